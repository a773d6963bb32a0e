#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets into the folders beside it: small models with a bit of everything, inputs in each form.

usage: make_seeds.py

The seeds are checked in, since the fuzzers need no Python; this program says how they came about. Findings are added by hand,
named crash_* or slow_*, and stay. Seeds of the engine target are made by the target itself.
"""
import io
import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, kind=F, dims=(2, 3)):
    return helper.make_tensor_value_info(name, kind, dims)


def floats(name, *dims):
    count = int(np.prod(dims))
    return numpy_helper.from_array((np.arange(count, dtype=np.float32) / 7 - 1).reshape(dims), name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(name, nodes, inputs, outputs, weights=(), functions=(), opset=21, domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    made = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)
    (HERE / "model" / f"{name}.onnx").write_bytes(made.SerializeToString())


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def models():
    model("convolution", [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]), node("BatchNormalization", "c s s s v", "n"), node("Relu", "n", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]), node("GlobalAveragePool", "p", "g"),
        node("Flatten", "g", "f"), node("Gemm", "f u", "y", transB=1)],
        [value("x", F, ["n", 2, 4, 4])], [value("y", F, None)],
        [floats("w", 3, 2, 3, 3), floats("b", 3), floats("s", 3), numpy_helper.from_array(np.ones(3, np.float32), "v"), floats("u", 4, 3)])
    model("attention", [
        node("MatMul", "x w", "q"), node("Transpose", "q", "t", perm=[0, 2, 1]), node("MatMul", "q t", "s"),
        node("Softmax", "s", "p", axis=-1), node("MatMul", "p q", "o"), node("LayerNormalization", "o g", "y")],
        [value("x", F, ["b", "s", 4])], [value("y", F, None)], [floats("w", 4, 4), floats("g", 4)])
    model("shapes", [
        node("Shape", "x", "sh"), node("Gather", "sh zero", "n"), node("Unsqueeze", "n zero", "u"), node("Concat", "u minus", "target", axis=0),
        node("Reshape", "x target", "r"), node("Slice", "r zero one one", "sl"), node("Tile", "sl reps", "ti"),
        node("Pad", "ti pads", "pa"), node("Split", "pa", "a b", axis=1, num_outputs=2), node("ConstantOfShape", "target2", "co"),
        node("Range", "start limit delta", "ra"), node("Expand", "ra e", "ex"), node("Squeeze", "ex", "y")],
        [value("x", F, ["n", 4])], [value("y", I, None), value("a", F, None), value("b", F, None), value("co", F, None)],
        [ints("zero", 0), ints("minus", -1), ints("one", 1), ints("reps", 1, 2), ints("pads", 0, 0, 1, 0), ints("target2", 2, 2),
         numpy_helper.from_array(np.int64(0), "start"), numpy_helper.from_array(np.int64(5), "limit"), numpy_helper.from_array(np.int64(2), "delta"), ints("e", 2, 1)])
    body = helper.make_graph([node("Identity", "go", "on"), node("Add", "s w", "t"), node("Identity", "t", "each")], "body",
                             [value("i", I, []), value("go", B, []), value("s")], [value("on", B, []), value("t"), value("each")])
    then = helper.make_graph([node("Relu", "l", "a1")], "then", [], [value("a1", F, None)])
    other = helper.make_graph([node("Neg", "l", "a2")], "else", [], [value("a2", F, None)])
    model("control", [node("Loop", "n go0 x", "l all", body=body), node("If", "c", "k", then_branch=then, else_branch=other)],
          [value("x"), value("c", B, [])], [value("k", F, None), value("all", F, None)],
          [floats("w", 2, 3), numpy_helper.from_array(np.int64(3), "n"), numpy_helper.from_array(np.bool_(True), "go0")])
    scan = helper.make_graph([node("Add", "s e", "s2"), node("Mul", "s2 e", "o")], "scan", [value("s", F, [3]), value("e", F, [3])],
                             [value("s2", F, [3]), value("o", F, [3])])
    model("scan", [node("Scan", "init x", "last all", body=scan, num_scan_inputs=1)], [value("x", F, ["n", 3])],
          [value("last", F, None), value("all", F, None)], [floats("init", 3)])
    inner = helper.make_function("f", "Inner", ["a"], ["b"], [helper.make_node("Softmax", ["a"], ["b"])], [helper.make_opsetid("", 21)])
    outer = helper.make_function("f", "Outer", ["a", "k"], ["b"],
                                 [node("Add", "a k", "c"), helper.make_node("Inner", ["c"], ["b"], domain="f")],
                                 [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)])
    model("functions", [helper.make_node("Outer", ["x", "w"], ["y"], domain="f")], [value("x")], [value("y", F, None)], [floats("w", 2, 3)],
          [inner, outer], domains=["f"])
    model("data_dependent", [
        node("NonZero", "x", "nz"), node("TopK", "x k", "tv ti"), node("Unique", "ti", "u", sorted=1), node("Compress", "x m", "co", axis=0),
        node("Where", "m2 x w", "wh"), node("ScatterND", "x idx upd", "sc"), node("CumSum", "sc zero", "y")],
        [value("x")], [value(n, k, None) for n, k in (("nz", I), ("u", I), ("co", F), ("wh", F), ("y", F))],
        [ints("k", 2), numpy_helper.from_array(np.array([True, False]), "m"), numpy_helper.from_array(np.array([[True, False, True]]), "m2"),
         floats("w", 2, 3), numpy_helper.from_array(np.array([[1]], np.int64), "idx"), floats("upd", 1, 3), numpy_helper.from_array(np.int64(1), "zero")])
    model("recurrent", [node("LSTM", "x w r", "y h c", hidden_size=2), node("GRU", "x w3 r3", "z", hidden_size=2)], [value("x", F, ["t", 1, 3])],
          [value("h", F, None), value("z", F, None)], [floats("w", 1, 8, 3), floats("r", 1, 8, 2), floats("w3", 1, 6, 3), floats("r3", 1, 6, 2)])
    model("quantised", [
        node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("DequantizeLinear", "wq s z", "w"),
        node("MatMul", "d w", "m"), node("Cast", "m", "h", to=TensorProto.FLOAT16), node("Cast", "h", "y", to=F)],
        [value("x")], [value("y", F, None)],
        [numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.uint8(128), "z"), numpy_helper.from_array(np.arange(12, dtype=np.uint8).reshape(3, 4), "wq")])
    model("various", [
        node("Resize", "x none scales", "re", mode="linear"), node("Einsum", "re re", "ei", equation="nchw,nchw->nc"), node("ReduceSum", "re axes", "rs", keepdims=0),
        node("GatherElements", "ei ge", "g"), node("OneHot", "ge depth vals", "oh"), node("ArgMax", "re", "am"), node("Clip", "rs lo hi", "cl"),
        node("SpaceToDepth", "re", "sd", blocksize=2), node("Sum", "cl rs", "y")],
        [value("x", F, [1, 2, 2, 2])], [value(n, k, None) for n, k in (("y", F), ("g", F), ("oh", F), ("am", I), ("sd", F))],
        [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales"), numpy_helper.from_array(np.zeros(0, np.float32), "none"), ints("axes", 2),
         numpy_helper.from_array(np.array([[0, 1]], np.int64), "ge"), numpy_helper.from_array(np.int64(3), "depth"), numpy_helper.from_array(np.array([0, 1], np.float32), "vals"),
         numpy_helper.from_array(np.float32(0), "lo"), numpy_helper.from_array(np.float32(6), "hi")], opset=18)
    model("sequences", [
        node("SplitToSequence", "x one", "s", axis=0), node("SequenceAt", "s zero", "a"), node("SequenceInsert", "s a", "s2"), node("SequenceLength", "s2", "n"),
        node("ConcatFromSequence", "s2", "c", axis=0), node("Optional", "c", "o"), node("OptionalHasElement", "o", "h"), node("OptionalGetElement", "o", "y")],
        [value("x")], [value("y", F, None), value("n", I, None), value("h", B, None)],
        [numpy_helper.from_array(np.int64(1), "one"), numpy_helper.from_array(np.int64(0), "zero")])
    typed = helper.make_tensor("typed", F, [2, 3], range(6))
    sparse = helper.make_sparse_tensor(helper.make_tensor("sparse", F, [2], [1, 2]), ints("", 1, 4), [2, 3])
    external = TensorProto(name="external", data_type=F, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", "weights.bin"), ("offset", "4096"), ("length", "24")):
        external.external_data.add(key=key, value=text)
    graph = helper.make_graph([node("Sum", "x typed sparse external", "y")], "tensors", [value("x")], [value("y")], [typed, external],
                              sparse_initializer=[sparse])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)
    (HERE / "model/tensors.onnx").write_bytes(made.SerializeToString())


def arrays():
    def put(name, form, content):
        (HERE / "arrays" / name).write_bytes(bytes([form]) + content)

    for name, array in (("float", np.arange(6, dtype=np.float32).reshape(3, 2)), ("fortran", np.asfortranarray(np.ones((2, 2), np.float64))),
                        ("swapped", np.arange(3, dtype=">i4")), ("bool", np.array(True)), ("empty", np.zeros((0, 4), np.float16))):
        out = io.BytesIO()
        np.save(out, array)
        put("npy_" + name, 0, out.getvalue())
    for name, save in (("stored", np.savez), ("packed", np.savez_compressed)):
        out = io.BytesIO()
        save(out, x=np.arange(40, dtype=np.float32).reshape(20, 2), y=np.zeros(3))
        put("npz_" + name, 1, out.getvalue())
    put("pb_raw", 2, floats("x", 2, 2).SerializeToString())
    put("pb_typed", 2, helper.make_tensor("x", I, [3], [1, -2, 3]).SerializeToString())
    put("pb_half", 2, helper.make_tensor("x", TensorProto.FLOAT16, [2], [1.0, 2.0]).SerializeToString())
    put("pb_sequence", 2, numpy_helper.from_list([np.ones(2, np.float32), np.zeros(3, np.float32)], "s").SerializeToString())
    put("pb_optional", 2, numpy_helper.from_optional(np.ones(2, np.float32), "o").SerializeToString())
    put("raw", 3, np.arange(4, dtype=np.float32).tobytes())


def texts():
    for name, content in (("all", {"x": [[1, 2.5], [-3e10, "nan"]], "ids": [1, -2, 9007199254740993], "mask": True, "q": [0, 255], "h": [[1, "inf"]]}),
                          ("list", [[1, 2], [3, 4]]), ("scalar", 7), ("empty", {"x": [], "h": [[]]}), ("ragged", {"x": [[1, 2], [3]]}),
                          ("strings", {"x": ["a", None, {"b": [1]}]})):
        (HERE / "json" / name).write_text(json.dumps(content))
    for name, content in (("one", "-fuse:pointwise=off"), ("scoped", "-fuse:pointwise@layer*=off -pass:merge_common=on"),
                          ("lines", "-a=1\n-b@x?*=2\t-c=[1|2]\n"), ("broken", "fuse=on -=x -y= -z@=1 --a==b"), ("empty", "")):
        (HERE / "route" / name).write_text(content)


def main():
    for name in ("model", "arrays", "json", "route"):
        (HERE / name).mkdir(exist_ok=True)
    models()
    arrays()
    texts()


if __name__ == "__main__":
    main()
