# SPDX-License-Identifier: Apache-2.0
"""Where options come from (flag > ROTA_<OPTION> > --config > default), log files, progress and signals."""
import json
import os
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def engine(rota, tmp_path):
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])], [numpy_helper.from_array(np.ones((3, 4), np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    rota("build", "m.onnx", "-o", "e.rota")
    return "e.rota"


def threads(done):
    return json.loads(done.stdout)["threads"]


def test_flag_beats_variable_beats_file_beats_default(rota, engine, tmp_path):
    (tmp_path / "c.ini").write_text("threads = 2\nwarmup = 0\n[bench]\nduration = 10ms\nstreams = 3\n")
    bench = ["bench", engine, "--json"]
    env = {"ROTA_CONFIG": "c.ini"}
    result = json.loads(rota(*bench, "--config", "c.ini").stdout)
    assert result["threads"] == 2 and result["streams"] == 3
    assert threads(rota(*bench, env={**env, "ROTA_THREADS": "1"})) == 1
    assert threads(rota(*bench, "--threads", "4", env={**env, "ROTA_THREADS": "1"})) == 4
    # The file's lines for bench say nothing to run.
    assert "float32[1, 4]" in rota("run", engine, env=env).stdout
    devices = rota("devices", env={**env, "ROTA_THREADS": "1"}).stdout
    assert "in force   ROTA_THREADS=1\n" in devices and "in force   c.ini [bench]: streams=3\n" in devices


def test_variables_are_checked_like_flags(rota, engine):
    done = rota("run", engine, code=2, env={"ROTA_THREADS": "many"})
    assert done.stderr.startswith("error: R1001: ") and "--threads" in done.stderr
    assert rota("run", engine, env={"ROTA_QUIET": "true"}).stderr == ""
    assert rota("run", engine, env={"ROTA_SHAPE": "x=6x3"}).stdout.startswith("y  float32[6, 4]")


@pytest.mark.parametrize("text,error", [("thraeds = 2\n", "found thraeds; do this: did you mean threads?"), ("[bnech]\nthreads = 2\n", "found [bnech]")])
def test_unknown_settings_are_errors(rota, engine, tmp_path, text, error):
    (tmp_path / "c.ini").write_text(text)
    assert error in rota("run", engine, "--config", "c.ini", code=2).stderr
    assert "R1501" in rota("run", engine, "--config", "none.ini", code=1).stderr


def test_log_file(rota, engine, tmp_path):
    rota("run", engine, "--quiet", "--log-file", "log")
    rota("run", "none", "--log-file", "log", "--log-level", "error", code=1)
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 2 and lines[0].endswith("Z info: dim 0 of input 'x' is not given: 1 is used (--shape sets it)")
    assert " error: R1501 at 'none'" in lines[1]
    assert rota("run", engine, "--log-level", "loud", code=2).stderr.startswith("error: R1001")


def start(rota_path, tmp_path, *arguments):
    return subprocess.Popen([rota_path, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_stops_bench_with_5(rota_path, engine, tmp_path, number):
    process = start(rota_path, tmp_path, "bench", engine, "--duration", "1m", "--json")
    time.sleep(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 5 and "error: R1602: the job was interrupted" in err
    assert json.loads(out)["verdict"] == "failed" and json.loads(out)["error"]["code"] == "R1602"


@pytest.fixture
def slow(tmp_path):
    """A loop of 2^40 rounds: it does not look at signals."""
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Add", ["a", "one"], ["a2"])], "body",
                             [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("a", TensorProto.FLOAT, [1])],
                             [helper.make_tensor_value_info("c2", TensorProto.BOOL, []), helper.make_tensor_value_info("a2", TensorProto.FLOAT, [1])],
                             [numpy_helper.from_array(np.ones(1, np.float32), "one")])
    graph = helper.make_graph([helper.make_node("Loop", ["m", "", "a"], ["y"], body=body)], "g", [helper.make_tensor_value_info("a", TensorProto.FLOAT, [1])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])], [numpy_helper.from_array(np.array(2**40), "m")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "slow.onnx")
    return "slow.onnx"


def test_a_job_that_does_not_stop_is_ended_with_5_within_5_seconds(rota_path, slow, tmp_path):
    process = start(rota_path, tmp_path, "run", slow, "--outputs", "out")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, err = process.communicate(timeout=10)
    assert process.returncode == 5 and "R1602" in err and time.monotonic() - begin < 6
    assert not os.path.exists(tmp_path / "out")


def test_the_second_signal_ends_at_once(rota_path, slow, tmp_path):
    process = start(rota_path, tmp_path, "run", slow)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    process.communicate(timeout=10)
    assert process.returncode == -signal.SIGINT and time.monotonic() - begin < 2


def test_an_interrupted_build_leaves_no_file(rota_path, tmp_path):
    """However early or late the signal comes: a whole engine and 0, or nothing and 5."""
    weights = np.ones((2000, 2000), np.float32)
    nodes = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"]) for i in range(200)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, 2000])], [helper.make_tensor_value_info("x200", TensorProto.FLOAT, [1, 2000])],
                              [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    folder = tmp_path / "engines"
    folder.mkdir()
    for delay in (0.05, 0.15, 0.3):
        process = start(rota_path, tmp_path, "build", "m.onnx", "-o", "engines/e.rota")
        time.sleep(delay)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=15)
        # A signal before the handlers are installed ends the process by itself.
        assert process.returncode in (0, 5, -signal.SIGTERM)
        assert os.listdir(folder) == (["e.rota"] if process.returncode == 0 else [])
        for name in os.listdir(folder):
            os.remove(folder / name)
