#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo: draws a random phrase, compiles a trained text recogniser, and reads the phrase back (`make demo`).

usage: demo.py [--rota PROGRAM] [--seed N] [--duration S]

1. Takes a trained network (recogniser.py says which, and where from) and draws a phrase of three random words.
2. `rota build` compiles the network into an engine, `rota run` runs it on the drawing; the text is read from the output.
3. ONNX Runtime runs the same network on the same input; outputs and texts are compared.
4. Both are measured on one core with one thread, each in fresh processes, in alternating order.

Exit code 0 when the phrase, Rota's answer and ONNX Runtime's answer are the same and the outputs agree; 1 otherwise.
"""
import argparse
import json
import os
import random
import secrets
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

import recogniser

ROOT = Path(__file__).resolve().parent.parent.parent
AGREEMENT = 1e-4  # largest relative L2 difference of the outputs; float32 sums in another order differ by about 1e-6


class StepFailed(Exception):
    pass


def call(command):
    """Standard output of a program that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise StepFailed(f"{' '.join(str(word) for word in command)}\nended with exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def relative_l2(value, reference):
    value, reference = value.astype(np.float64), reference.astype(np.float64)
    return float(np.linalg.norm(value - reference) / np.linalg.norm(reference))


def only_output(folder):
    files = list(folder.glob("*.npy"))
    if len(files) != 1:
        raise StepFailed(f"expected one output in {folder}, found {len(files)}")
    return np.load(files[0])


class Side:
    """One of the two runtimes: its command that measures, the folder of its outputs, what was measured."""

    def __init__(self, name, command, outputs):
        self.name, self.command, self.outputs, self.measured = name, command, outputs, []

    def measure(self):
        self.measured.append(json.loads(call(self.command)))

    def median_ms(self, *keys):
        values = []
        for measured in self.measured:
            for key in keys:
                measured = measured[key]
            values.append(measured)
        return statistics.median(values)


def measure_alternating(sides, core):
    """Each side twice, the order swapped in between, all on one core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})  # what is started from here inherits it
    try:
        for side in [*sides, *reversed(sides)]:
            side.measure()
    finally:
        os.sched_setaffinity(0, allowed)


def print_times(rota, peer, build_s, peer_version):
    rows = [("build an engine", f"{1e3 * build_s:.0f} ms", "-"),
            ("load", *(f"{side.median_ms('load_ms'):.1f} ms" for side in (rota, peer))),
            ("first run", *(f"{side.median_ms('first_run_ms'):.1f} ms" for side in (rota, peer))),
            ("median of a run", *(f"{side.median_ms('latency_ms', 'median'):.2f} ms" for side in (rota, peer)))]
    print(f"\n  {'one core, one thread':<22} {'Rota':>12} {'ONNX Runtime ' + peer_version:>22}")
    for name, ours, theirs in rows:
        print(f"  {name:<22} {ours:>12} {theirs:>22}")
    print("  Load: Rota from its engine file, ONNX Runtime from the model, which it optimises then.")


def main():
    parser = argparse.ArgumentParser(description="Draws a phrase, compiles a trained network, reads the phrase back.")
    parser.add_argument("--rota", type=Path, default=ROOT / "build/release/bin/rota", help="the program")
    parser.add_argument("--seed", type=int, default=None, help="the phrase's seed; default: a new one each time")
    parser.add_argument("--duration", type=float, default=1.0, help="seconds of each measurement")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache/demo", help="where the network is kept")
    parser.add_argument("--work", type=Path, default=ROOT / "build/demo", help="where drawing, engine and outputs go")
    arguments = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed

    model = recogniser.fetch(arguments.cache)
    print(f"network   {model.name} from {recogniser.PACKAGE} (Apache-2.0), a trained text recogniser")
    phrase = recogniser.random_phrase(random.Random(seed))
    work = arguments.work
    shutil.rmtree(work, ignore_errors=True)
    (work / "inputs").mkdir(parents=True)
    image = recogniser.draw(phrase)
    image.save(work / "phrase.png")
    np.save(work / "inputs/x.npy", recogniser.network_input(image))
    print(f"phrase    '{phrase}' (seed {seed}), drawn in {os.path.relpath(work / 'phrase.png')}")

    engine = work / "recogniser.rota"
    shape = f"x=1x3x{recogniser.HEIGHT}x{recogniser.WIDTH}"
    build = json.loads(call([arguments.rota, "build", model, "-o", engine, "--shape", shape, "--threads", 1, "--json"]))
    print(f"engine    {os.path.relpath(engine)}, {build['engine_bytes'] / 1e6:.1f} MB")
    call([arguments.rota, "run", engine, "--inputs", work / "inputs", "--outputs", work / "rota"])
    timing = ["--inputs", work / "inputs", "--threads", 1, "--duration", arguments.duration]
    rota = Side("Rota", [arguments.rota, "bench", engine, *timing, "--json"], work / "rota")
    peer = Side("ONNX Runtime", [sys.executable, ROOT / "bench/peer.py", "ort", model, *timing, "--outputs", work / "ort"], work / "ort")
    measure_alternating([rota, peer], min(os.sched_getaffinity(0)))

    alphabet = recogniser.characters(model)
    outputs = {side.name: only_output(side.outputs) for side in (rota, peer)}
    texts = {name: recogniser.read(scores, alphabet) for name, scores in outputs.items()}
    for name, text in texts.items():
        print(f"read      '{text}' by {name}")
    difference = relative_l2(outputs["Rota"], outputs["ONNX Runtime"])
    print(f"outputs   relative L2 difference {difference:.1e} (limit {AGREEMENT:.0e})")
    print_times(rota, peer, build["build_s"], peer.measured[0]["version"])

    if texts["Rota"] != texts["ONNX Runtime"] or not difference <= AGREEMENT:
        print("\nThe answers differ.")
        return 1
    print("\nRota read the phrase." if texts["Rota"] == phrase else "\nBoth read something else than was drawn.")
    return 0 if texts["Rota"] == phrase else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (StepFailed, RuntimeError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        sys.exit(1)
