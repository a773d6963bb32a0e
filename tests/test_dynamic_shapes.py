# SPDX-License-Identifier: Apache-2.0
"""Sizes that change and sizes that only the data tells, from file to answer: small graphs are built into engines, run on several
shapes (empty ones too) and compared with ONNX Runtime; refusals name input, dimension, values and node."""
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto as T
from onnx import helper as h

FLOAT, INT64, BOOL = T.FLOAT, T.INT64, T.BOOL


def value(name, dtype, dims):
    return h.make_tensor_value_info(name, dtype, dims)


def constant(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, initializers=(), opset=17):
    graph = h.make_graph(nodes, "g", inputs, outputs, list(initializers))
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def floats(*dims):
    return np.random.default_rng(int(np.prod(dims)) + len(dims)).standard_normal(dims).astype(np.float32)


@pytest.fixture
def through_engine(rota, tmp_path):
    """through_engine(model, feeds, *options): one engine, every feed compared with ONNX Runtime."""

    def call(made, feeds, *options):
        onnx.save(made, tmp_path / "model.onnx")
        rota("build", "model.onnx", "-o", "model.rota", "--level", 0, *options)
        session_options = onnxruntime.SessionOptions()
        session_options.log_severity_level = 4
        session = onnxruntime.InferenceSession(made.SerializeToString(), session_options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        for feed in feeds:
            expected = session.run(None, feed)
            got = run(rota, tmp_path, feed, names)
            for name, a, b in zip(names, got, expected):
                assert a.dtype == b.dtype, name
                assert a.shape == b.shape, f"{name} for {[v.shape for v in feed.values()]}"
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=name)

    return call


def run(rota, tmp_path, feed, names, *options, code=0):
    for name, array in feed.items():
        np.save(tmp_path / f"{name}.npy", array)
    done = rota("run", "model.rota", "--inputs", *[f"{n}={n}.npy" for n in feed], "--outputs", "out", *options, code=code)
    return [np.load(tmp_path / "out" / f"{n}.npy") for n in names] if code == 0 else done.stderr


# --- Sizes that the data tells ------------------------------------------------------------------------------------------


def test_nonzero_and_what_follows_it(through_engine):
    nodes = [h.make_node("NonZero", ["x"], ["i"]), h.make_node("Transpose", ["i"], ["t"], perm=[1, 0]),
             h.make_node("GatherND", ["x", "t"], ["v"]), h.make_node("Mul", ["v", "v"], ["w"]),
             h.make_node("ReduceSum", ["w"], ["s"], keepdims=0)]
    made = model(nodes, [value("x", FLOAT, ["n", 3])],
                 [value("t", INT64, ["k", 2]), value("w", FLOAT, ["k"]), value("s", FLOAT, [])])
    some = floats(4, 3)
    some[some < 0.2] = 0
    through_engine(made, [{"x": some}, {"x": np.zeros((5, 3), np.float32)}, {"x": np.ones((2, 3), np.float32)},
                          {"x": np.zeros((0, 3), np.float32)}], "--profile", "x=0x3:4x3:8x3")


def test_unique_topk_range_compress(through_engine):
    nodes = [h.make_node("Unique", ["x"], ["u", "first", "back", "count"]),
             h.make_node("TopK", ["x", "k"], ["top", "where"]),
             h.make_node("Range", ["zero", "limit", "one"], ["r"]),
             h.make_node("Greater", ["x", "half"], ["keep"]), h.make_node("Compress", ["x", "keep"], ["kept"], axis=0),
             h.make_node("Concat", ["kept", "top"], ["both"], axis=0)]
    made = model(nodes, [value("x", FLOAT, ["n"]), value("k", INT64, [1]), value("limit", INT64, [])],
                 [value("u", FLOAT, ["a"]), value("back", INT64, ["n"]), value("count", INT64, ["a"]), value("top", FLOAT, ["b"]),
                  value("where", INT64, ["b"]), value("r", INT64, ["c"]), value("both", FLOAT, ["d"])],
                 [constant("zero", np.int64(0)), constant("one", np.int64(1)), constant("half", np.float32(0.5))])
    feeds = [{"x": np.array(x, np.float32), "k": np.array([k]), "limit": np.array(limit)}
             for x, k, limit in ([[1, 2, 1, 0.5], 2, 5], [[3], 1, 0], [[0, 0, 0], 0, 2], [[-1, -2, 7, 7, 5], 5, 9])]
    through_engine(made, feeds)


def test_nms_feeds_gather(through_engine):
    nodes = [h.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["picked"]),
             h.make_node("Gather", ["picked", "two"], ["index"], axis=1), h.make_node("Squeeze", ["boxes", "axis"], ["flat"]),
             h.make_node("Gather", ["flat", "index"], ["chosen"], axis=0)]
    made = model(nodes, [value("boxes", FLOAT, [1, "n", 4]), value("scores", FLOAT, [1, 1, "n"])],
                 [value("picked", INT64, ["m", 3]), value("chosen", FLOAT, ["m", 4])],
                 [constant("most", np.array([3])), constant("iou", np.array([0.5], np.float32)),
                  constant("least", np.array([0.1], np.float32)), constant("two", np.int64(2)), constant("axis", np.array([0]))])
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [4, 4, 5, 5]]], np.float32)
    through_engine(made, [{"boxes": boxes, "scores": np.array([[[0.9, 0.8, 0.7, 0.05]]], np.float32)},
                          {"boxes": boxes[:, :1], "scores": np.zeros((1, 1, 1), np.float32)}])


def test_resize_and_reshape_by_computed_values(through_engine):
    nodes = [h.make_node("Resize", ["x", "", "", "size"], ["big"], mode="nearest"), h.make_node("Reshape", ["x", "shape"], ["flat"]),
             h.make_node("Shape", ["flat"], ["dims"]), h.make_node("Relu", ["flat"], ["y"])]
    made = model(nodes, [value("x", FLOAT, [1, 2, "h", "w"]), value("size", INT64, [4]), value("shape", INT64, [2])],
                 [value("big", FLOAT, ["a", "b", "c", "d"]), value("dims", INT64, [2]), value("y", FLOAT, ["e", "f"])])
    x = floats(1, 2, 3, 4)
    through_engine(made, [{"x": x, "size": np.array([1, 2, 6, 5]), "shape": np.array([-1, 6])},
                          {"x": x, "size": np.array([1, 2, 3, 4]), "shape": np.array([2, 12])},
                          {"x": x[:, :, :1], "size": np.array([1, 2, 1, 1]), "shape": np.array([0, -1])}])


def test_sync_points_and_unbounded_values_are_named(rota, tmp_path):
    nodes = [h.make_node("NonZero", ["x"], ["i"], name="find"), h.make_node("Cast", ["i"], ["f"], name="convert", to=FLOAT),
             h.make_node("Add", ["limit", "limit"], ["twice"], name="double"),
             h.make_node("Range", ["zero", "twice", "one"], ["r"], name="count"), h.make_node("Neg", ["r"], ["minus"], name="flip")]
    onnx.save(model(nodes, [value("x", FLOAT, [4, "n"]), value("limit", INT64, [])],
                    [value("f", FLOAT, [2, "k"]), value("minus", INT64, ["m"])],
                    [constant("zero", np.int64(0)), constant("one", np.int64(1))]), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0, "--profile", "x=4x1:4x8:4x16")
    seen = json.loads(rota("inspect", "model.rota", "--json").stdout)
    seen = seen.get("engine", seen)
    assert any("double" in s["sources"] for s in seen["sync_points"]), seen["sync_points"]
    found = {f["value"]: f for f in seen["found_sizes"]}
    assert "find" in found["i"]["sources"] and found["i"]["bounded"] and found["i"]["most_bytes"] == 2 * 4 * 16 * 8
    assert "flip" in found["minus"]["sources"] and not found["minus"]["bounded"]
    text = rota("inspect", "model.rota").stdout
    assert "Sync points" in text and "unbounded" in text


# --- Control flow -------------------------------------------------------------------------------------------------------


def test_loop_with_growing_state_and_early_exit(through_engine):
    body = h.make_graph(
        [h.make_node("Concat", ["seen", "x"], ["longer"], axis=0), h.make_node("ReduceSum", ["longer"], ["sum"], keepdims=0),
         h.make_node("Less", ["sum", "stop"], ["again"]), h.make_node("Identity", ["sum"], ["row"])],
        "body", [value("i", INT64, []), value("go", BOOL, []), value("seen", FLOAT, ["m", 2])],
        [value("again", BOOL, []), value("longer", FLOAT, ["k", 2]), value("row", FLOAT, [])])
    made = model([h.make_node("Loop", ["trips", "", "start"], ["all", "sums"], body=body)],
                 [value("x", FLOAT, ["n", 2]), value("start", FLOAT, ["s", 2]), value("stop", FLOAT, []), value("trips", INT64, [])],
                 [value("all", FLOAT, ["a", 2]), value("sums", FLOAT, ["t"])])
    one, none = np.ones((3, 2), np.float32), np.zeros((0, 2), np.float32)
    feeds = [{"x": x, "start": start, "stop": np.float32(stop), "trips": np.array(trips)}
             for x, start, stop, trips in ((one, none, 100, 4), (one, one, 13, 9), (one, one, 100, 0), (none, none, 1, 3))]
    through_engine(made, [{k: np.asarray(v) for k, v in f.items()} for f in feeds], "--dim", "n=0:3:9", "--dim", "s=0:3:9")


def test_nested_control_flow_with_captures(through_engine):
    inner = h.make_graph([h.make_node("Mul", ["state", "w"], ["grown"]), h.make_node("Identity", ["inner_go"], ["inner_again"])],
                         "inner", [value("j", INT64, []), value("inner_go", BOOL, []), value("state", FLOAT, ["n", 3])],
                         [value("inner_again", BOOL, []), value("grown", FLOAT, ["n", 3])])
    then_ = h.make_graph([h.make_node("Loop", ["i", "", "carried"], ["a"], body=inner)], "then", [], [value("a", FLOAT, ["n", 3])])
    else_ = h.make_graph([h.make_node("Add", ["carried", "x"], ["b"])], "else", [], [value("b", FLOAT, ["n", 3])])
    body = h.make_graph(
        [h.make_node("Mod", ["i", "two"], ["odd"]), h.make_node("Cast", ["odd"], ["is_odd"], to=BOOL),
         h.make_node("If", ["is_odd"], ["next"], then_branch=then_, else_branch=else_), h.make_node("Identity", ["go"], ["again"]),
         h.make_node("ReduceMax", ["next"], ["peak"], axes=[1], keepdims=0)],
        "body", [value("i", INT64, []), value("go", BOOL, []), value("carried", FLOAT, ["n", 3])],
        [value("again", BOOL, []), value("next", FLOAT, ["n", 3]), value("peak", FLOAT, ["n"])])
    made = model([h.make_node("Sigmoid", ["x"], ["w"]), h.make_node("Loop", ["trips", "", "x"], ["y", "peaks"], body=body)],
                 [value("x", FLOAT, ["n", 3]), value("trips", INT64, [])],
                 [value("y", FLOAT, ["n", 3]), value("peaks", FLOAT, ["t", "n"])], [constant("two", np.int64(2))])
    through_engine(made, [{"x": floats(n, 3), "trips": np.array(t)} for n, t in ((2, 5), (4, 1), (1, 4), (3, 2))])


def test_scan_over_open_lengths(through_engine):
    body = h.make_graph([h.make_node("Add", ["state", "slice"], ["next"]), h.make_node("Mul", ["next", "scale"], ["row"])],
                        "body", [value("state", FLOAT, ["b"]), value("slice", FLOAT, ["b"])],
                        [value("next", FLOAT, ["b"]), value("row", FLOAT, ["b"])])
    made = model([h.make_node("Scan", ["start", "x"], ["last", "rows"], body=body, num_scan_inputs=1, scan_input_axes=[1],
                              scan_input_directions=[1], scan_output_axes=[1])],
                 [value("start", FLOAT, ["b"]), value("x", FLOAT, ["b", "t"]), value("scale", FLOAT, [])],
                 [value("last", FLOAT, ["b"]), value("rows", FLOAT, ["b", "t"])])
    through_engine(made, [{"start": floats(b), "x": floats(b, t), "scale": np.array(2, np.float32)}
                          for b, t in ((2, 3), (1, 7), (5, 1))])


def test_guard_of_a_branch_that_is_not_taken_refuses_nothing(rota, tmp_path):
    """The branch multiplies x by a square matrix of 4; the other one passes x on. Only the first needs dim 1 to be 4."""
    then_ = h.make_graph([h.make_node("MatMul", ["x", "w"], ["a"], name="product")], "then", [], [value("a", FLOAT, ["n", "p"])])
    else_ = h.make_graph([h.make_node("Neg", ["x"], ["b"], name="minus")], "else", [], [value("b", FLOAT, ["n", "q"])])
    onnx.save(model([h.make_node("If", ["cond"], ["y"], name="choice", then_branch=then_, else_branch=else_)],
                    [value("x", FLOAT, ["n", "m"]), value("cond", BOOL, [])], [value("y", FLOAT, ["a", "b"])],
                    [constant("w", np.eye(4, dtype=np.float32))]), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0)
    x = floats(2, 3)
    y, = run(rota, tmp_path, {"x": x, "cond": np.array(False)}, ["y"])
    np.testing.assert_array_equal(y, -x)
    y, = run(rota, tmp_path, {"x": floats(2, 4), "cond": np.array(True)}, ["y"])
    np.testing.assert_allclose(y, floats(2, 4), rtol=1e-6)
    message = run(rota, tmp_path, {"x": x, "cond": np.array(True)}, ["y"], code=1)
    for part in ("R1404", "product", "dim 1 of input 'x'", "3 and 4"):
        assert part in message.replace("4 and 3", "3 and 4"), message


# --- Guards and profiles ------------------------------------------------------------------------------------------------


def test_symbols_that_operators_prove_equal(rota, tmp_path):
    """Every axis has a symbol of its own, as exporters write it; the guard names input, dim, both values and node."""
    nodes = [h.make_node("Add", ["a", "b"], ["s"], name="sum"), h.make_node("MatMul", ["s", "w"], ["p"], name="product"),
             h.make_node("Concat", ["p", "c"], ["y"], name="join", axis=1)]
    onnx.save(model(nodes, [value("a", FLOAT, ["a0", "a1"]), value("b", FLOAT, ["b0", "b1"]), value("c", FLOAT, ["c0", "c1"])],
                    [value("y", FLOAT, ["y0", "y1"])], [constant("w", floats(4, 2))]), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0, "--profile", "a=2x4:3x4:8x4", "--profile", "b=2x4:3x4:8x4")
    seen = json.loads(rota("inspect", "model.rota", "--json").stdout)
    seen = seen.get("engine", seen)
    assert any("sum" in g["node"] for g in seen["guards"]) and any("join" in g["node"] for g in seen["guards"]), seen["guards"]
    y, = run(rota, tmp_path, {"a": floats(3, 4), "b": floats(3, 4), "c": floats(3, 5)}, ["y"])
    assert y.shape == (3, 7)
    message = run(rota, tmp_path, {"a": floats(3, 4), "b": floats(2, 4), "c": floats(3, 5)}, ["y"], code=1)
    for part in ("R1404", "sum", "dim 0 of input 'a'", "dim 0 of input 'b'", "3 and 2"):
        assert part in message, message
    message = run(rota, tmp_path, {"a": floats(3, 4), "b": floats(3, 4), "c": floats(7, 5)}, ["y"], code=1)
    for part in ("R1404", "join", "dim 0 of input 'c'"):
        assert part in message, message


def test_symbols_of_an_exported_decoder(rota, tmp_path):
    """Each past has an axis of its own name; attention proves that they are one, layer by layer."""
    from test_models import MODELS, fill, make_inputs

    path = next(m for m in MODELS if m.stem == "hf_llama_small_past")
    made = fill(path, tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0)
    seen = json.loads(rota("inspect", "model.rota", "--json").stdout)
    seen = seen.get("engine", seen)
    symbols = {v["name"]: v["type"].split("[")[1].split("]")[0].split(", ") for v in seen["inputs"]}
    pasts = {symbols[name][2] for name in symbols if name.startswith("past")}
    presents = {v["type"].split("[")[1].split(", ")[2] for v in seen["outputs"] if v["name"].startswith("present")}
    assert len(pasts) > 1, "the exporter named them apart"
    assert len(presents) == 1, f"one length of all caches: {presents}"
    assert len(seen["guards"]) >= len(pasts) - 1 and all(g["node"] for g in seen["guards"])
    inputs = make_inputs(made, (1, 12))
    name = sorted(n for n in inputs if n.startswith("past") and symbols[n][2] not in presents)[-1]
    inputs[name] = inputs[name][:, :, :5]
    message = run(rota, tmp_path, inputs, [], code=1)
    for part in ("R1404", "dim 2 of input 'past", "where"):
        assert part in message, message


def test_reshape_needs_an_exact_division(rota, tmp_path):
    onnx.save(model([h.make_node("Reshape", ["x", "shape"], ["y"], name="fold")], [value("x", FLOAT, ["n"])],
                    [value("y", FLOAT, ["m", 4])], [constant("shape", np.array([-1, 4]))]), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0, "--dim", "n=0:8:100")
    y, = run(rota, tmp_path, {"x": floats(12)}, ["y"])
    assert y.shape == (3, 4)
    y, = run(rota, tmp_path, {"x": floats(0)}, ["y"])
    assert y.shape == (0, 4)
    message = run(rota, tmp_path, {"x": floats(10)}, ["y"], code=1)
    for part in ("R1404", "fold", "dim 0 of input 'x'", "10"):
        assert part in message, message


def test_profiles_by_shape_and_by_name(rota, tmp_path):
    onnx.save(model([h.make_node("MatMul", ["x", "w"], ["p"]), h.make_node("Relu", ["p"], ["y"])], [value("x", FLOAT, ["n", "k"])],
                    [value("y", FLOAT, ["n", 5])], [constant("w", floats(6, 5))]), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0, "--profile", "small:x=1x6:2x6:4x6", "--profile", "large:x=3x6:8x6:32x6")
    for n, options in ((1, ()), (32, ()), (4, ("--use-profile", "large")), (4, ("--use-profile", "small"))):
        y, = run(rota, tmp_path, {"x": floats(n, 6)}, ["y"], *options)
        np.testing.assert_allclose(y, np.maximum(floats(n, 6) @ floats(6, 5), 0), rtol=1e-5, atol=1e-6)
    for n, options, expected in ((2, ("--use-profile", "large"), "3 to 32"), (33, (), "3 to 32"), (0, ("--use-profile", "small"), "1 to 4")):
        message = run(rota, tmp_path, {"x": floats(n, 6)}, ["y"], *options, code=1)
        for part in ("R1405", "dim 0 of input 'x'", expected, f"found: {n}"):
            assert part in message or part.replace("found: ", "found ") in message, message
    message = run(rota, tmp_path, {"x": floats(2, 6)}, ["y"], "--use-profile", "medium", code=None)
    # A single unnamed profile, and two of them: an input that is given again begins the next one.
    rota("build", "model.onnx", "-o", "one.rota", "--level", 0, "--profile", "x=1x6:2x6:4x6")
    rota("build", "model.onnx", "-o", "two.rota", "--level", 0, "--profile", "x=1x6:2x6:4x6", "--profile", "x=5x6:6x6:7x6")
    for engine, count in (("one.rota", 1), ("two.rota", 2)):
        seen = json.loads(rota("inspect", engine, "--json").stdout)
        assert len(seen.get("engine", seen)["profiles"]) == count


def test_negative_sizes_are_refused_with_their_origin(rota, tmp_path):
    """A convolution without padding over fewer elements than its kernel has."""
    onnx.save(model([h.make_node("Conv", ["x", "w"], ["y"], name="conv")], [value("x", FLOAT, [1, 1, "n"])],
                    [value("y", FLOAT, [1, 1, "m"])], [constant("w", floats(1, 1, 5))]), tmp_path / "model.onnx")
    rota("build", "model.onnx", "-o", "model.rota", "--level", 0)
    y, = run(rota, tmp_path, {"x": floats(1, 1, 5)}, ["y"])
    assert y.shape == (1, 1, 1)
    message = run(rota, tmp_path, {"x": floats(1, 1, 2)}, ["y"], code=1)
    for part in ("conv", "dim 2 of input 'x'"):
        assert part in message, message


# --- Empty tensors ------------------------------------------------------------------------------------------------------

EMPTY = {
    "MatMul": ([h.make_node("MatMul", ["x", "w"], ["y"])], (4, 3)),
    "Gemm": ([h.make_node("Gemm", ["x", "w", "b"], ["y"])], (4, 3)),
    "Softmax": ([h.make_node("Softmax", ["x"], ["y"], axis=0)], (4, 3)),
    "ReduceSum": ([h.make_node("ReduceSum", ["x", "axis"], ["y"], keepdims=1)], (4, 3)),
    "Concat": ([h.make_node("Concat", ["x", "x"], ["y"], axis=0)], (4, 3)),
    "Transpose": ([h.make_node("Transpose", ["x"], ["y"], perm=[1, 0])], (4, 3)),
    "Slice": ([h.make_node("Slice", ["x", "one", "far", "axis"], ["y"])], (4, 3)),
    "Where": ([h.make_node("Greater", ["x", "b4"], ["c"]), h.make_node("Where", ["c", "x", "b4"], ["y"])], (4, 3)),
    "Expand": ([h.make_node("Shape", ["x"], ["s"]), h.make_node("Expand", ["b4", "s"], ["y"])], (4, 3)),
    "LayerNormalization": ([h.make_node("LayerNormalization", ["x", "b4"], ["y"])], (4, 3)),
    "Pad": ([h.make_node("Pad", ["x", "pads"], ["y"])], (4, 3)),
    "Gather": ([h.make_node("Gather", ["w", "zero_of_n"], ["y"])], (4, 3)),
}


@pytest.mark.parametrize("name", sorted(EMPTY))
def test_empty_tensors(through_engine, name):
    nodes, (k, n) = EMPTY[name]
    nodes = list(nodes)
    if any("zero_of_n" in node.input for node in nodes):
        nodes.insert(0, h.make_node("Cast", ["sum"], ["zero_of_n"], to=INT64))
        nodes.insert(0, h.make_node("Mul", ["rows", "nought"], ["sum"]))
        nodes.insert(0, h.make_node("ReduceSum", ["x", "last"], ["rows"], keepdims=0))
    made = model(nodes, [value("x", FLOAT, ["n", k])], [value("y", FLOAT, ["p", "q"])],
                 [constant("w", floats(k, n)), constant("b", floats(n)), constant("b4", floats(k)), constant("axis", np.array([0])),
                  constant("last", np.array([1])), constant("one", np.array([1])), constant("far", np.array([9])),
                  constant("pads", np.array([1, 0, 1, 0])), constant("nought", np.float32(0))])
    through_engine(made, [{"x": floats(3, k)}, {"x": floats(0, k)}], "--profile", f"x=0x{k}:3x{k}:8x{k}")
