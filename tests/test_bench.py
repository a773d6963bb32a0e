# SPDX-License-Identifier: Apache-2.0
"""The measuring script (bench/cpu_models.py): its statistics, and the whole of it on a small model, right and wrong."""
import json
import math
import stat
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT
from test_docs import write_model

sys.path.insert(0, str(ROOT / "bench"))
import cpu_models  # noqa: E402


def test_interval():
    mean, low, high = cpu_models.interval([2.0, 2.0, 2.0])
    assert mean == pytest.approx(2) and low == pytest.approx(2) and high == pytest.approx(2)
    mean, low, high = cpu_models.interval([1.0, 4.0])  # logs 0 and 2 ln 2: mean ln 2, deviation sqrt(2) ln 2, t = 12.706
    assert mean == pytest.approx(2) and high == pytest.approx(2 * math.exp(12.706 * math.log(2)))
    assert low * high == pytest.approx(mean**2)
    assert cpu_models.interval([3.0])[1:] == (0.0, math.inf)


def test_order_turns_round():
    rounds = [cpu_models.order_of_round(["rota", "ort", "openvino"], n) for n in range(4)]
    assert rounds[0] == rounds[2] == ["rota", "ort", "openvino"] and rounds[1] == rounds[3] == ["openvino", "ort", "rota"]


@pytest.mark.parametrize("value, problem", [
    (np.zeros((2, 3), np.float32), "expected float32"), (np.full(6, 1.001, np.float32), "relative L2"),
    (np.full(6, np.nan, np.float32), "relative L2"), (np.ones(6, np.float64), "expected float32")])
def test_disagreement_is_a_failure(value, problem):
    with pytest.raises(cpu_models.Failure, match=problem):
        cpu_models.check_agreement(value, np.ones(6, np.float32), "y")


def test_agreement():
    assert cpu_models.check_agreement(np.full(6, 1 + 1e-5, np.float32), np.ones(6, np.float32), "y") == pytest.approx(1e-5, rel=0.05)
    with pytest.raises(cpu_models.Failure, match="1 of 6"):
        cpu_models.check_agreement(np.array([1, 0, 0, 0, 0, 0]), np.zeros(6, int), "y")


def test_docs_are_filled_in_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- results -->\nold\n<!-- /results -->\nafter\n")
    cpu_models.write_docs("new", [page])
    assert page.read_text() == "before\n<!-- results -->\n\nnew\n\n<!-- /results -->\nafter\n"
    for path in (ROOT / "README.md", ROOT / "docs/performance.md"):
        assert "<!-- results -->" in path.read_text() and "<!-- /results -->" in path.read_text()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small/inputs").mkdir(parents=True)
    write_model(tmp_path / "small/model.onnx")
    np.save(tmp_path / "small/inputs/image.npy", np.random.default_rng(0).uniform(-1, 1, (2, 3, 32, 32)).astype(np.float32))
    return tmp_path / "small"


def bench(folder, program, *options):
    return subprocess.run([sys.executable, ROOT / "bench/cpu_models.py", folder, "--rota", program, "--rounds", "2", "--seconds", "0.02",
                           "--json", folder.parent / "rows.json", *options], capture_output=True, text=True, timeout=300)


def test_small_model(folder, rota_path):
    done = bench(folder, rota_path)
    assert done.returncode == 0, done.stdout + done.stderr
    row, = json.loads((folder.parent / "rows.json").read_text())
    assert row["rota"]["median_ms"] > 0 and row["ort"]["median_ms"] > 0 and row["difference"] < 1e-5
    assert row["ort"]["ratio"][1] <= row["ort"]["ratio"][0] <= row["ort"]["ratio"][2]
    assert "| small |" in done.stdout and not (folder / "measured").exists()
    assert bench(folder, rota_path, "--limit", "1e-6").returncode == 1


def test_wrong_answer_has_no_time(folder, rota_path):
    program = folder.parent / "wrong"
    program.write_text(f"""#!{sys.executable}
import subprocess, sys
from pathlib import Path
import numpy as np
code = subprocess.run([{str(rota_path)!r}, *sys.argv[1:]]).returncode
if sys.argv[1] == "run":
    for path in Path(sys.argv[sys.argv.index("--outputs") + 1]).glob("*.npy"):
        np.save(path, np.load(path) * np.float32(1.01))
sys.exit(code)
""")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    done = bench(folder, program)
    assert done.returncode == 1 and "relative L2 difference 1.0e-02" in done.stdout, done.stdout + done.stderr
