# SPDX-License-Identifier: Apache-2.0
"""The command line as scripts see it: exit codes, streams, JSON, texts of errors, names, forms of inputs, settings, signals."""
import json
import os
import re
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

COMMANDS = ["check", "build", "run", "bench", "inspect", "devices", "knobs", "version", "explain"]


def save(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, [numpy_helper.from_array(v, n) for n, v in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


@pytest.fixture
def model(tmp_path):
    """relu(x w): x is [batch, 3], the output is named out/y."""
    weights = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    save(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["p"], name="product"), helper.make_node("Relu", ["p"], ["out/y"], name="relu")],
         [info("x", ["batch", 3])], [info("out/y", ["batch", 4])], [("w", weights)])
    return "m.onnx"


@pytest.fixture
def engine(rota, model):
    rota("build", model, "-o", "e.rota", "--level", "0", "--quiet")
    return "e.rota"


def error_of(done):
    assert done.stdout == ""
    return done.stderr.strip()


def test_help_has_an_example(rota):
    assert "Example: rota build" in rota("--help").stdout
    for command in COMMANDS:
        done = rota(command, "--help")
        assert f"Example: rota {command}" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("options", [[], ["--device", "cpu", "--threads", "1"], ["--no-native-code"]])
def test_model_and_engine_agree_with_onnx_runtime(rota, model, tmp_path, options):
    x = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in/x.npy", x)
    expected, = onnxruntime.InferenceSession(tmp_path / model).run(None, {"x": x})
    rota("build", model, "-o", "e.rota", "--profile", "x=1x3:4x3:8x3", *options)
    for operand, folder in ((model, "of_model"), ("e.rota", "of_engine")):
        done = rota("run", operand, "--inputs", "in", "--outputs", folder, *options)
        assert done.stdout == ""
        got = np.load(tmp_path / folder / "out_y.npy")
        assert got.shape == (5, 4) and got.dtype == np.float32
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_content_decides_what_an_operand_is(rota, engine, tmp_path):
    os.rename(tmp_path / engine, tmp_path / "looks_like.onnx")
    assert "out/y" in rota("run", "looks_like.onnx", "--quiet").stdout


def test_summary_on_stdout_rest_on_stderr(rota, engine):
    done = rota("run", engine)
    assert done.stdout.startswith("out/y  float32[1, 4]  min ") and "top:" in done.stdout
    assert done.stderr == "dim 0 of input 'x' is not given: 1 is used (--shape sets it)\n"
    assert rota("run", engine, "--quiet").stderr == ""
    assert rota("run", engine, "--shape", "x=7x3").stdout.startswith("out/y  float32[7, 4]")


def test_json_objects(rota, model, engine, tmp_path):
    for arguments in (["check", model], ["build", model, "-o", "f.rota"], ["run", engine], ["bench", engine, "--duration", "0.01", "--warmup", "0"],
                      ["inspect", engine], ["devices"], ["knobs"], ["version"]):
        result = json.loads(rota(*arguments, "--json").stdout)
        assert result["schema_version"] == 1 and result["rota_version"] and result["verdict"]
        assert result["command"] == arguments[0] and result["command_line"][1:] == [*arguments, "--json"]
        done = rota(arguments[0], "--json=result.json", *arguments[1:])
        assert done.stdout == "" and json.loads((tmp_path / "result.json").read_text())["command"] == arguments[0]
    # Without '=' the next word is not its file.
    assert json.loads(rota("check", "--json", model).stdout)["operators"] == {"MatMul": 1, "Relu": 1}


def test_json_of_a_failure(rota, model, engine):
    """A job that fails leaves the error as an object too, with the exit code; words still go to standard error."""
    for arguments, error, code in ((["build", "nowhere.onnx", "-o", "x.rota"], "R1501", 1), (["run", engine, "--inputs", "nowhere"], "R1501", 1),
                                   (["knobs", "no:such"], "R1002", 2), (["inspect", model], "R1301", 4)):
        done = rota(*arguments, "--json", code=None)
        result = json.loads(done.stdout)
        assert result["verdict"] == "failed" and result["exit_code"] == done.returncode, result
        assert result["error"]["code"] in done.stderr and result["error"]["message"] in done.stderr
        assert (result["error"]["code"], done.returncode) == (error, code)


def test_bench_json_has_the_fields_of_the_contract(rota, model, engine):
    for operand in (model, engine):
        result = json.loads(rota("bench", operand, "--duration", "20ms", "--warmup", "1ms", "--iterations", "50", "--threads", "1", "--percentiles", "99.9,10", "--json").stdout)
        latency = result["latency_ms"]
        assert set(latency) == {"mean", "median", "p90", "p95", "p99", "min", "max", "samples", "p99.9", "p10"}
        assert latency["samples"] >= 50
        assert latency["min"] <= latency["p10"] <= latency["median"] <= latency["p90"] <= latency["p95"] <= latency["p99"] <= latency["p99.9"] <= latency["max"]
        for key in ("throughput_per_s", "first_run_ms", "load_ms", "engine_bytes", "weights_bytes", "activation_bytes", "peak_rss_bytes"):
            assert result[key] > 0, key
        assert (result["build_s"] == 0) == (operand == engine)
        assert result["device"] == "cpu" and result["threads"] == 1
        assert result["device_time_ms"] is None and result["enqueue_ms"] is None


def test_bench_streams_and_profile(rota, engine):
    done = rota("bench", engine, "--duration", "0.02", "--warmup", "0", "--streams", "2", "--threads", "1")
    assert "2 streams" in done.stdout and "latency     median" in done.stdout
    for arguments in ([engine, "--profile"], ["--profile", engine], [engine, "--profile", "--threads", "1"]):
        done = rota("bench", *arguments, "--duration", "0.01", "--warmup", "0")
        assert re.search(r"ms +share +tactic +source", done.stdout) and "product (MatMul)" in done.stdout
    # With a range it is the range.
    done = rota("bench", engine, "--profile", "x=1x3:2x3:4x3", "--duration", "0.01", "--warmup", "0")
    assert "share" not in done.stdout and done.stderr == ""


ERRORS = [
    (2, [], "error: R1001: a command is missing; do this: `rota --help` lists the commands"),
    (2, ["buidl", "m.onnx"], "error: R1001: there is no such command; found buidl; do this: did you mean build?"),
    (2, ["run"], "error: R1001: MODEL is required; do this: `rota run --help` lists the options"),
    (1, ["run", "none.onnx"], "error: R1501 at 'none.onnx': there is no such file; do this: check the path"),
    (1, ["run", "."], "error: R1502 at '.': this is not a regular file; expected the path of a file; found a folder"),
    (2, ["run", "m.onnx", "--device", "cuda"], "error: R1005: this build of Rota has no such device; expected cpu; found cuda"),
    (2, ["run", "m.onnx", "--shape", "z=1"], "error: R1004 at 'z': --shape names nothing that the model has; expected one of x; do this: did you mean x?"),
    (2, ["run", "m.onnx", "--shape", "x=1xx3"], "error: R1001: a shape is not numbers joined by 'x'; expected for example 1x3x224x224, or scalar; found 1xx3"),
    (2, ["run", "m.onnx", "--shape", "x"], "error: R1001: --shape has the form NAME=VALUE; found x"),
    (1, ["run", "m.onnx", "--shape", "x=1x2x3"], "error: R1402 at '--shape x=1x2x3': the number of dims differs from the input's; expected 2; found 3"),
    (2, ["build", "m.onnx", "-o", "f", "--profile", "x=4x3:2x3:8x3"],
     "error: R1001 at '--profile x=4x3:2x3:8x3': a range is not MIN <= OPT <= MAX; found 4x3:2x3:8x3"),
    (2, ["build", "m.onnx", "-o", "f", "--shape", "x=1x3", "--profile", "x=1x3:2x3:8x3"],
     "error: R1001 at '--profile x=1x3:2x3:8x3': an input is given two different shapes or ranges; do this: give --shape or --profile once for each input"),
    (2, ["build", "m.onnx", "-o", "f", "--route", "-no:knob=1"], None),
    (1, ["build", "m.onnx", "-o", "none/f"],
     "error: R1503 at 'none/f': the folder of the file does not exist; found No such file or directory; do this: create the folder first"),
    (1, ["build", "e.rota", "-o", "f"], "error: R1101 at 'e.rota': an engine cannot be built again; expected an ONNX model; found a Rota engine"),
    (2, ["bench", "m.onnx", "--duration", "nan"],
     "error: R1001: --duration: expected a time such as 3, 500ms or 2m, found 'nan'; do this: `rota bench --help` lists the options"),
    (2, ["bench", "m.onnx", "--warmup=-1"],
     "error: R1001: --warmup: expected a time such as 3, 500ms or 2m, found '-1'; do this: `rota bench --help` lists the options"),
    (2, ["bench", "m.onnx", "--percentiles", "nan"],
     "error: R1001: --percentiles: expected a number from 0 to 100, found 'nan'; do this: `rota bench --help` lists the options"),
    (2, ["bench", "m.onnx", "--level", "9"], "error: R1001: --level: Value 9 not in range 0 to 5; do this: `rota bench --help` lists the options"),
    (2, ["run", "m.onnx", "--inputs", "random:x"], "error: R1001: the seed of random inputs is not a number; found x"),
    (2, ["run", "m.onnx", "--range", "x=2:1"], "error: R1001: --range has the form NAME=LO:HI; expected two numbers, LO <= HI; found x=2:1"),
    (2, ["run", "m.onnx", "--range", "x=nan:1"], "error: R1001: --range has the form NAME=LO:HI; expected two numbers, LO <= HI; found x=nan:1"),
    (4, ["inspect", "m.onnx"],
     "error: R1301 at 'm.onnx': This file is not a Rota engine; expected an engine, as written by 'rota build MODEL.onnx -o ENGINE'; found an ONNX model, it seems; "
     "do this: name an engine file, or build one from the model first"),
    (2, ["explain", "R9999"], "error: R1001: there is no such error code; found 9999; do this: `rota explain --all` lists them"),
    (2, ["knobs", "zzz"], "error: R1002: there is no knob 'zzz'; do this: `rota knobs` lists all knobs"),
    (1, ["run", "m.onnx", "--log-file", "none/log"],
     "error: R1503 at 'none/log': the folder of the file does not exist; found No such file or directory; do this: create the folder first"),
]


@pytest.mark.parametrize("code,arguments,text", ERRORS, ids=[" ".join(e[1]) or "nothing" for e in ERRORS])
def test_texts_of_errors(rota, engine, code, arguments, text):
    got = error_of(rota(*arguments, code=code))
    assert got.startswith("error: R") and (text is None or got == text)


def test_a_damaged_engine_is_refused_with_4(rota, engine, tmp_path):
    whole = (tmp_path / engine).read_bytes()
    (tmp_path / "cut.rota").write_bytes(whole[:len(whole) // 2])
    for command in ("run", "bench", "inspect"):
        assert "error: R13" in error_of(rota(command, "cut.rota", code=4))


def test_check_lists_all_problems_at_once(rota, tmp_path):
    save(tmp_path / "u.onnx", [helper.make_node("Frobnicate", ["x"], ["a"], name="first"), helper.make_node("Defrost", ["a"], ["y"], name="second")],
         [info("x", [1])], [info("y", [1])])
    done = rota("check", "u.onnx", code=6)
    assert "first" in done.stdout and "second" in done.stdout and done.stderr == ""
    problems = json.loads(rota("check", "u.onnx", "--json", code=6).stdout)
    assert problems["verdict"] == "problems" and len(problems["problems"]) >= 2 and problems["problems"][0]["code"] == "R1201"
    assert rota("build", "u.onnx", "-o", "u.rota", code=6).stdout == "" and not (tmp_path / "u.rota").exists()
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    assert "R1101" in error_of(rota("check", "bad.onnx", code=1))


def test_plain_commands(rota):
    assert re.match(r"rota \d+\.\d+\.\d+ \(", rota("version").stdout)
    assert "cores" in rota("devices").stdout
    assert "-fuse:epilogue=" in rota("knobs").stdout
    assert rota("explain", "R1204").stdout.startswith("R1204  shapes do not fit\nexit code 1\n")
    assert rota("explain", "1204").stdout == rota("explain", "r1204").stdout
    assert "R1204  exit 1" in rota("explain", "--all").stdout


def test_names_split_at_the_last_equals_of_a_known_name(rota, tmp_path):
    save(tmp_path / "n.onnx", [helper.make_node("Add", ["a=b", "a"], ["y"])], [info("a=b", ["n"]), info("a", ["n"])], [info("y", ["n"])])
    assert "float32[3]" in rota("run", "n.onnx", "--shape", "a=b=3", "--shape", "a=3").stdout
    assert "float32[3]" in rota("run", "n.onnx", "--shape", "'a=b'=3", "--shape", "'a'=3").stdout
    assert "float32[4]" in rota("run", "n.onnx", "--shape", "a*=4").stdout
    assert "float32[5]" in rota("run", "n.onnx", "--dim", "n=5").stdout


def test_colliding_file_names_are_refused(rota, tmp_path):
    save(tmp_path / "c.onnx", [helper.make_node("Add", ["a/b", "a_b"], ["y"])], [info("a/b", [2]), info("a_b", [2])], [info("y", [2])])
    np.save(tmp_path / "a_b.npy", np.ones(2, np.float32))
    assert "two inputs have the same file name" in error_of(rota("run", "c.onnx", "--inputs", ".", code=2))
    rota("run", "c.onnx", "--inputs", "a/b=a_b.npy", "a_b=a_b.npy")


def test_missing_and_wrong_inputs(rota, engine, tmp_path):
    (tmp_path / "in").mkdir()
    assert "R1401 at input 'x'" in error_of(rota("run", engine, "--inputs", "in", code=None))
    np.save(tmp_path / "in/x.npy", np.ones((1, 3), np.int64))
    assert "R1403" in error_of(rota("run", engine, "--inputs", "in", code=None))
    np.save(tmp_path / "in/x.npy", np.ones((1, 2), np.float32))
    done = rota("run", engine, "--inputs", "in", code=None)
    assert done.returncode == 1 and done.stderr.startswith("error: R14")
    (tmp_path / "in/x.npy").write_bytes(b"\x93NUMPY")
    assert "R1407" in error_of(rota("run", engine, "--inputs", "in", code=None))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["version", "--json"], ["version"], ["explain", "--all"]])
def test_a_full_disk_behind_stdout_is_7(rota_path, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([rota_path, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 7 and "R1504 at 'standard output'" in done.stderr
