# SPDX-License-Identifier: Apache-2.0
"""Forms of input files and made-up inputs: every form gives the same answer, and random values fit the model."""
import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def echo(tmp_path):
    """Copies its inputs out, so that a test sees what was read: f [n, 3] float32, i [n] int64, b [2] bool."""
    kinds = {"f": (TensorProto.FLOAT, ["n", 3]), "i": (TensorProto.INT64, ["n"]), "b": (TensorProto.BOOL, [2])}
    nodes = [helper.make_node("Identity", [n], [n + "_out"]) for n in kinds]
    inputs = [helper.make_tensor_value_info(n, k, s) for n, (k, s) in kinds.items()]
    outputs = [helper.make_tensor_value_info(n + "_out", k, s) for n, (k, s) in kinds.items()]
    onnx.save(helper.make_model(helper.make_graph(nodes, "echo", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "echo.onnx")
    return {"f": np.arange(6, dtype=np.float32).reshape(2, 3) / 3, "i": np.array([2**53 + 1, -7]), "b": np.array([True, False])}


def write(folder, form, arrays):
    folder.mkdir(exist_ok=True)
    for position, (name, value) in enumerate(arrays.items()):
        if form == "npy":
            np.save(folder / f"{name}.npy", value)
        elif form == "pb":
            (folder / f"input_{position}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
        elif form == "bin":
            (folder / f"{name}.bin").write_bytes(value.tobytes())
        else:
            (folder / f"{name}.json").write_text(json.dumps(value.tolist()))


def check(tmp_path, expected):
    for name, value in expected.items():
        got = np.load(tmp_path / "out" / f"{name}_out.npy")
        assert got.dtype == value.dtype and np.array_equal(got, value), name


@pytest.mark.parametrize("form", ["npy", "pb", "bin", "json"])
def test_folders_of_every_form(rota, echo, tmp_path, form):
    write(tmp_path / "in", form, echo)
    rota("run", "echo.onnx", "--inputs", "in", "--outputs", "out")
    check(tmp_path, echo)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(rota, echo, tmp_path, save):
    save(tmp_path / "all.npz", **echo)
    rota("run", "echo.onnx", "--inputs", "all.npz", "--outputs", "out")
    check(tmp_path, echo)
    save(tmp_path / "one.npz", echo["f"])
    rota("run", "echo.onnx", "--inputs", "f=one.npz", "i=all.npz", "b=all.npz", "--outputs", "out")
    check(tmp_path, echo)
    data = bytearray((tmp_path / "all.npz").read_bytes())
    data[len(data) // 4] ^= 0xFF
    (tmp_path / "bad.npz").write_bytes(data)
    done = rota("run", "echo.onnx", "--inputs", "bad.npz", "--outputs", "out", code=1)
    assert done.stderr.startswith("error: R1407")


def test_one_json_for_all(rota, echo, tmp_path):
    (tmp_path / "all.json").write_text(json.dumps({n: v.tolist() for n, v in echo.items()}))
    rota("run", "echo.onnx", "--inputs", "all.json", "--outputs", "out")
    check(tmp_path, echo)


@pytest.mark.parametrize("text", ["[1, [2]]", "[[1], [2, 3]]", '["x", 2]', "[1.5, 2]", "{", "[1e30, 2]", "[null, 1]"])
def test_json_that_is_no_array_of_integers(rota, echo, tmp_path, text):
    write(tmp_path / "in", "npy", echo)
    (tmp_path / "i.json").write_text(text)
    done = rota("run", "echo.onnx", "--inputs", "in", "i=i.json", code=1)
    assert done.stderr.startswith("error: R1407") and done.stdout == ""


def test_a_raw_file_of_the_wrong_size(rota, echo, tmp_path):
    write(tmp_path / "in", "npy", echo)
    (tmp_path / "b.bin").write_bytes(b"\1")
    assert "expected 2 bytes; found 1 bytes" in rota("run", "echo.onnx", "--inputs", "in", "b=b.bin", code=1).stderr


def random_inputs(rota, tmp_path, *options):
    rota("run", "echo.onnx", "--dim", "n=500", "--outputs", "out", *options)
    return {n: np.load(tmp_path / "out" / f"{n}_out.npy") for n in "fib"}


def test_random_values(rota, echo, tmp_path):
    first = random_inputs(rota, tmp_path)
    assert -1 <= first["f"].min() < -0.9 and 0.9 < first["f"].max() < 1
    assert (first["i"] == 1).all() and first["b"].all()
    again, other = random_inputs(rota, tmp_path, "--inputs", "random"), random_inputs(rota, tmp_path, "--inputs", "random:7")
    assert np.array_equal(first["f"], again["f"]) and not np.array_equal(first["f"], other["f"])
    ranged = random_inputs(rota, tmp_path, "--range", "i=-2:3", "--range", "f=10:20")
    assert set(ranged["i"]) == {-2, -1, 0, 1, 2, 3} and 10 <= ranged["f"].min() and ranged["f"].max() < 20


def test_random_indices_stay_in_their_table(rota, tmp_path):
    table = np.arange(14, dtype=np.float32).reshape(7, 2)
    nodes = [helper.make_node("Cast", ["ids"], ["c"], to=TensorProto.INT64), helper.make_node("Unsqueeze", ["c", "axes"], ["u"]),
             helper.make_node("Gather", ["table", "u"], ["rows"]), helper.make_node("Identity", ["ids"], ["seen"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("ids", TensorProto.INT32, ["n"])],
                              [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [1, "n", 2]), helper.make_tensor_value_info("seen", TensorProto.INT32, ["n"])],
                              [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([0]), "axes")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "t.onnx")
    rota("build", "t.onnx", "-o", "t.rota")
    manifest = json.loads(rota("inspect", "t.rota", "--json").stdout)["manifest"]
    assert manifest["input_bounds"] == {"ids": 7}
    for operand in ("t.onnx", "t.rota"):
        rota("run", operand, "--shape", "ids=200", "--outputs", "out")
        assert set(np.load(tmp_path / "out/seen.npy")) == set(range(7))
