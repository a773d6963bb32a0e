#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one model in another runtime, in this process only, and prints one JSON object with its times.

usage: peer.py ort|openvino MODEL.onnx --inputs DIR [--outputs DIR] [--threads N] [--duration S] [--warmup MS]

What `rota bench --json` measures, measured the same way: `load_ms` (model file to ready session), `first_run_ms`, then after a
warm-up the latency from host input to host output. Inputs are NAME.npy, with `/` in a name written as `_`; outputs likewise.
Used by the demo and by bench/cpu_models.py, which start one process for each measurement so that runtimes do not share
memory, thread pools or caches.
"""
import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np


def file_name(tensor_name):
    return tensor_name.replace("/", "_") + ".npy"


class OnnxRuntime:
    """ONNX Runtime's CPU provider with all optimisations, as its defaults have it, on a fixed number of threads."""

    def __init__(self, model, threads):
        import onnxruntime
        self.version = onnxruntime.__version__
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.load_ms = 1e3 * (time.perf_counter() - start)
        self.input_names = [value.name for value in self.session.get_inputs()]
        self.output_names = [value.name for value in self.session.get_outputs()]

    def bind(self, inputs):
        self.inputs = inputs

    def run(self):
        return self.session.run(None, self.inputs)


class OpenVino:
    """OpenVINO's CPU plug-in in float32, tuned for latency."""

    def __init__(self, model, threads):
        import openvino
        self.version = openvino.__version__.split("-")[0]
        start = time.perf_counter()
        core = openvino.Core()
        self.compiled = core.compile_model(str(model), "CPU", {
            "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"})
        self.load_ms = 1e3 * (time.perf_counter() - start)
        self.input_names = [value.any_name for value in self.compiled.inputs]
        self.output_names = [value.any_name for value in self.compiled.outputs]
        self.request = self.compiled.create_infer_request()

    def bind(self, inputs):
        self.inputs = inputs

    def run(self):
        result = self.request.infer(self.inputs)
        return [result[i] for i in range(len(self.output_names))]


RUNTIMES = {"ort": OnnxRuntime, "openvino": OpenVino}


def measure(runtime, duration, warmup_ms, at_least=3):
    start = time.perf_counter()
    outputs = runtime.run()
    first_run_ms = 1e3 * (time.perf_counter() - start)
    start = time.perf_counter()
    while 1e3 * (time.perf_counter() - start) < warmup_ms:
        runtime.run()
    latencies, start = [], time.perf_counter()
    while time.perf_counter() - start < duration or len(latencies) < at_least:
        begin = time.perf_counter()
        runtime.run()
        latencies.append(1e3 * (time.perf_counter() - begin))
    times = {"median": statistics.median(latencies), "min": min(latencies), "max": max(latencies), "samples": len(latencies)}
    return outputs, {"load_ms": runtime.load_ms, "first_run_ms": first_run_ms, "latency_ms": times}


def main():
    parser = argparse.ArgumentParser(description="One model in another runtime: its times as JSON.")
    parser.add_argument("runtime", choices=sorted(RUNTIMES))
    parser.add_argument("model", type=Path)
    parser.add_argument("--inputs", type=Path, required=True, help="folder of NAME.npy")
    parser.add_argument("--outputs", type=Path, help="folder for NAME.npy of each output")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--duration", type=float, default=3, help="seconds to measure")
    parser.add_argument("--warmup", type=float, default=200, help="milliseconds, not counted")
    arguments = parser.parse_args()

    runtime = RUNTIMES[arguments.runtime](arguments.model, arguments.threads)
    runtime.bind({name: np.load(arguments.inputs / file_name(name)) for name in runtime.input_names})
    outputs, result = measure(runtime, arguments.duration, arguments.warmup)
    if arguments.outputs:
        arguments.outputs.mkdir(parents=True, exist_ok=True)
        for name, value in zip(runtime.output_names, outputs):
            np.save(arguments.outputs / file_name(name), np.asarray(value))
    print(json.dumps({"runtime": arguments.runtime, "version": runtime.version, "threads": arguments.threads, **result}))


if __name__ == "__main__":
    main()
