# SPDX-License-Identifier: Apache-2.0
"""Runs of exporters' graphs allocate nothing once the context is warm: neither for prepared shapes nor for others inside the profile.

`rota_shape_runs` replaces the allocation functions of its process and counts; what a library beneath takes for itself is counted apart.
"""
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from test_models import MODELS, fill, make_inputs, text

PROGRAM = Path(os.environ.get("ROTA_SHAPE_RUNS", Path(__file__).resolve().parent.parent / "build/release/tests/rota_shape_runs"))
SKIPPED = {"tv_mobilenet_v2", "hand_autoencoder3d"}  # as other convolutions, only larger


@pytest.mark.parametrize("path", [m for m in MODELS if m.stem not in SKIPPED], ids=lambda p: p.stem)
def test_no_allocation_in_runs(path, rota, tmp_path):
    if not PROGRAM.is_file():
        pytest.skip("rota_shape_runs is not built (a sanitizer owns malloc)")
    model = fill(path, tmp_path / "model.onnx")
    cases = [make_inputs(model, sizes) for sizes in ((1, 16), (2, 12), (2, 16), (1, 12))]
    ranges = []
    for name in cases[0]:
        shapes = [inputs[name].shape for inputs in cases]
        low, high = [min(d) for d in zip(*shapes)], [max(d) for d in zip(*shapes)]
        ranges += ["--shape", f"{name}={text(low)}"] if low == high else ["--profile", f"{name}={text(low)}:{text(shapes[0])}:{text(high)}"]
    rota("build", "model.onnx", "-o", "model.rota", "--level", "0", *ranges, timeout=300)
    folders = []
    for i, inputs in enumerate(cases):
        folders.append(tmp_path / f"case{i}")
        folders[-1].mkdir()
        for name, value in inputs.items():
            np.save(folders[-1] / (name.replace("/", "_") + ".npy"), value)
    done = subprocess.run([PROGRAM, "model.rota", *folders, "--changes", "8", "--show"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)
    free, prepared = counted["any_shape"], counted["prepared"]
    assert free["own"] == 0 and prepared["own"] == 0, f"{counted}\n{done.stderr[-4000:]}"
    assert free["prepares"] <= 1 and free["growth_bytes"] == 0, counted  # 1: fixed dims are made ready by the first run
    if ranges and "--profile" in ranges:
        assert free["prepares"] == 0, counted
