# SPDX-License-Identifier: Apache-2.0
"""Runs of exporters' graphs allocate nothing once the context is warm: neither for prepared shapes nor for others inside the profile.

`rota_shape_runs` replaces the allocation functions of its process and counts; what a library beneath takes for itself is counted apart.
"""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest

from test_models import MODELS, fill, make_inputs, text

PROGRAM = Path(os.environ.get("ROTA_SHAPE_RUNS", Path(__file__).resolve().parent.parent / "build/release/tests/rota_shape_runs"))
SKIPPED = {"tv_mobilenet_v2", "hand_autoencoder3d", "hf_t5_small_encoder", "hf_fnet", "rnn_lstm2_bi"}  # as others, only larger


def count(tmp_path, engine, cases, changes=8):
    """What rota_shape_runs counts over these sets of inputs."""
    if not PROGRAM.is_file():
        pytest.skip("rota_shape_runs is not built (a sanitizer owns malloc)")
    folders = []
    for i, inputs in enumerate(cases):
        folders.append(tmp_path / f"case{i}")
        folders[-1].mkdir()
        for name, value in inputs.items():
            np.save(folders[-1] / (name.replace("/", "_") + ".npy"), value)
    done = subprocess.run([PROGRAM, engine, *folders, "--changes", str(changes), "--show"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr[-4000:]


def test_no_allocation_for_bounded_sizes_and_control_flow(rota, tmp_path):
    """Sizes that only the data tells, below a bound: NonZero, TopK with k from the data, an If and a Loop over what they give."""
    h = onnx.helper
    value = h.make_tensor_value_info
    double = h.make_graph([h.make_node("Add", ["picked", "picked"], ["twice"])], "double", [], [value("twice", onnx.TensorProto.FLOAT, ["p"])])
    same = h.make_graph([h.make_node("Identity", ["picked"], ["once"])], "same", [], [value("once", onnx.TensorProto.FLOAT, ["q"])])
    body = h.make_graph([h.make_node("Mul", ["state", "chosen"], ["next"]), h.make_node("Identity", ["go"], ["again"])], "body",
                        [value("i", onnx.TensorProto.INT64, []), value("go", onnx.TensorProto.BOOL, []), value("state", onnx.TensorProto.FLOAT, ["r"])],
                        [value("again", onnx.TensorProto.BOOL, []), value("next", onnx.TensorProto.FLOAT, ["r"])])
    nodes = [h.make_node("NonZero", ["x"], ["where"]), h.make_node("Squeeze", ["where", "zero"], ["flat"]),
             h.make_node("Gather", ["x", "flat"], ["picked"]), h.make_node("If", ["cond"], ["chosen"], then_branch=double, else_branch=same),
             h.make_node("Loop", ["trips", "", "chosen"], ["y"], body=body), h.make_node("TopK", ["x", "k"], ["top", "at"])]
    graph = h.make_graph(nodes, "g", [value("x", onnx.TensorProto.FLOAT, ["n"]), value("cond", onnx.TensorProto.BOOL, []),
                                      value("trips", onnx.TensorProto.INT64, []), value("k", onnx.TensorProto.INT64, [1])],
                         [value("y", onnx.TensorProto.FLOAT, ["m"]), value("top", onnx.TensorProto.FLOAT, ["t"]), value("at", onnx.TensorProto.INT64, ["t"])],
                         [onnx.numpy_helper.from_array(np.array([0]), "zero")])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", "0", "--profile", "x=0:16:64")
    cases = [{"x": (np.arange(n) % every == 0).astype(np.float32), "cond": np.array(n % 2 == 0), "trips": np.array(n % 4), "k": np.array([min(n, 3)])}
             for n, every in ((64, 1), (7, 2), (16, 3), (0, 1), (33, 1))]
    counted, shown = count(tmp_path, "model.rota", cases, changes=25)
    free, prepared = counted["any_shape"], counted["prepared"]
    assert free["own"] == 0 and prepared["own"] == 0, f"{counted}\n{shown}"
    assert free["prepares"] == 0 and free["growth_bytes"] == 0 and counted["difference"] < 1e-6, counted


@pytest.mark.parametrize("path", [m for m in MODELS if m.stem not in SKIPPED], ids=lambda p: p.stem)
def test_no_allocation_in_runs(path, rota, tmp_path):
    model = fill(path, tmp_path / "model.onnx")
    cases = [make_inputs(model, sizes) for sizes in ((1, 16), (2, 12), (2, 16), (1, 12))]
    ranges = []
    for name in cases[0]:
        shapes = [inputs[name].shape for inputs in cases]
        low, high = [min(d) for d in zip(*shapes)], [max(d) for d in zip(*shapes)]
        ranges += ["--shape", f"{name}={text(low)}"] if low == high else ["--profile", f"{name}={text(low)}:{text(shapes[0])}:{text(high)}"]
    rota("build", "model.onnx", "-o", "model.rota", "--level", "0", *ranges, timeout=300)
    counted, shown = count(tmp_path, "model.rota", cases)
    free, prepared = counted["any_shape"], counted["prepared"]
    assert free["own"] == 0 and prepared["own"] == 0, f"{counted}\n{shown}"
    assert counted["difference"] < 1e-4, counted  # our own kernels and oneDNN add up in another order
    assert free["prepares"] <= 1 and free["growth_bytes"] == 0, counted  # 1: fixed dims are made ready by the first run
    if ranges and "--profile" in ranges:
        assert free["prepares"] == 0, counted
