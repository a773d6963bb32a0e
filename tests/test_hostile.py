# SPDX-License-Identifier: Apache-2.0
"""Models that nobody means well with: each ends within a second, in bounded memory, with an error that says where and what.

Every case is checked and built by the real program, whose processor time and peak memory are measured. The limits: a second of
processor time, and 256 MB plus eight times the size of the file (docs/security.md).
"""
import os
import random
import re
import struct

import numpy as np
import pytest
from measure import measure
from onnx import TensorProto, helper, numpy_helper

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
SECONDS = 1.0
BYTES, FACTOR = 256 << 20, 8


# --- Building blocks ---------------------------------------------------------------------------------------------------

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    """A field: an integer as a varint, bytes and text with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    if isinstance(content, str):
        content = content.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


def node(kind, inputs, outputs, name=None, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), name=name or f"{kind.lower()}_{outputs.split()[0]}", **attributes)


def value(name, kind=F, dims=(2, 3)):
    return helper.make_tensor_value_info(name, kind, dims)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def scalar(name, number):
    return numpy_helper.from_array(np.int64(number), name)


def model(nodes, inputs=(value("x"),), outputs=("y",), weights=(), functions=(), opset=21, domains=(), ir_version=8):
    outputs = [value(o, F, None) if isinstance(o, str) else o for o in outputs]
    graph = helper.make_graph(list(nodes), "g", list(inputs), outputs, list(weights))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=ir_version)


def raw_graph(*fields):
    return field(1, 8) + field(8, field(1, "") + field(2, 21)) + field(7, b"".join(fields))


X_INPUT = field(11, value("x").SerializeToString())
Y_OUTPUT = field(12, value("y", F, None).SerializeToString())


def nested(depth):
    """If inside If, so deep, written without recursion."""
    graph = field(1, field(1, "x") + field(2, "y") + field(4, "Relu")) + field(12, field(1, "y"))
    for _ in range(depth):
        branches = b"".join(field(5, field(1, name) + field(20, 5) + field(6, graph)) for name in ("then_branch",))
        graph = field(1, field(1, "c") + field(2, "y") + field(4, "If") + branches) + field(12, field(1, "y"))
    return raw_graph(graph, X_INPUT, field(11, value("c", B, []).SerializeToString()))


def function(name, inputs, outputs, nodes):
    return helper.make_function("f", name, inputs.split(), outputs.split(), nodes, [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)])


def call(name, inputs, outputs):
    return helper.make_node(name, inputs.split(), outputs.split(), domain="f", name=f"call_{name}_{outputs}")


def branch(nodes, output):
    return helper.make_graph(nodes, "branch", [], [value(output, F, None)])


def recursive_through_if():
    calls = node("If", "c", "b", then_branch=branch([call("A", "a c", "t")], "t"), else_branch=branch([node("Neg", "a", "e")], "e"))
    return model([call("A", "x c", "y")], [value("x"), value("c", B, [])],
                 functions=[function("A", "a c", "b", [call("B", "a c", "b")]), function("B", "a c", "b", [calls])], domains=["f"])


def exploding_functions():
    """Each function calls the one below twice: 2^40 nodes when inlined."""
    functions = [function("F0", "a", "b", [node("Neg", "a", "b")])]
    for level in range(1, 40):
        functions.append(function(f"F{level}", "a", "b", [call(f"F{level - 1}", "a", "m"), call(f"F{level - 1}", "m", "b")]))
    return model([call("F39", "x", "y")], functions=functions, domains=["f"])


def external(location="w.bin", offset=None, length=None, dims=(1024,), name="w", **more):
    tensor = TensorProto(name=name, data_type=F, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, "offset": offset, "length": length, **more}.items():
        if text is not None:
            tensor.external_data.add(key=key, value=str(text))
    return model([node("Add", "x w", "y")], [value("x", F, [1024])], weights=[tensor])


def growing(kind, steps):
    """A chain in which each step doubles a constant: 2^steps times 4096 elements."""
    nodes = [node("ConstantOfShape", "shape", "v0")]
    weights = [ints("shape", 64, 64)]
    for i in range(steps):
        a, b = f"v{i}", f"v{i + 1}"
        if kind == "Concat":
            nodes.append(node("Concat", f"{a} {a}", b, axis=0))
        elif kind == "Tile":
            nodes.append(node("Tile", f"{a} two", b))
        elif kind == "Expand":
            nodes += [node("Unsqueeze", f"{a} zero", f"u{i}"), node("Expand", f"u{i} grow{i}", f"e{i}"), node("Reshape", f"e{i} flat", b)]
            weights.append(ints(f"grow{i}", 2, *([1] * 2 if i == 0 else [1])))
        elif kind == "Pad":
            nodes.append(node("Pad", f"{a} pads{i}", b))
            weights.append(ints(f"pads{i}", 0, 0, 64 << i, 0))
        elif kind == "Resize":
            nodes.append(node("Resize", f"{a}  scales".replace("  ", " none "), b, mode="nearest"))
        elif kind == "Outer":
            nodes += [node("Concat", f"{a} {a}", f"c{i}", axis=1), node("Add", f"c{i} c{i}", b)]
    weights += [ints("two", 2, 1), ints("zero", 0), ints("flat", -1), numpy_helper.from_array(np.array([2, 1], np.float32), "scales"),
                numpy_helper.from_array(np.zeros(0, np.float32), "none")]
    nodes.append(node("ReduceSum", f"v{steps}", "s", keepdims=0))
    nodes.append(node("Add", "x s", "y"))
    return model(nodes, weights=weights)


def many_constants(count):
    """Each node makes 64 KB of constant out of nothing, and all are used."""
    nodes = [node("ConstantOfShape", "shape", f"c{i}", value=helper.make_tensor("v", F, [1], [i])) for i in range(count)]
    nodes += [node("Slice", f"c{i} zero one", f"s{i}") for i in range(count)]
    nodes.append(node("Sum", "x " + " ".join(f"s{i}" for i in range(count)), "y"))
    return model(nodes, [value("x", F, [1])], weights=[ints("shape", 16384), ints("zero", 0), ints("one", 1)])


def repeated_constant(calls):
    """A function that holds a megabyte of typed data, which cannot be used in place, and is called often."""
    data = helper.make_tensor("v", F, [250_000], np.arange(250_000, dtype=np.float32))
    inside = [node("Constant", "", "c", value=data), node("Slice", "c zero one", "s"), node("Add", "a s", "b")]
    inside[0].ClearField("input")
    functions = [function("Big", "a zero one", "b", inside)]
    nodes = [call("Big", f"{'x' if i == 0 else f'v{i}'} zero one", f"v{i + 1}") for i in range(calls)]
    return model(nodes + [node("Relu", f"v{calls}", "y")], weights=[ints("zero", 0), ints("one", 1)], functions=functions, domains=["f"])


def power_of_shapes(steps):
    """Sizes that are polynomials with ever more terms."""
    nodes = [node("Shape", "x", "s0")]
    for i in range(steps):
        nodes += [node("Gather", "s0 zero", f"a{i}"), node("Gather", "s0 one", f"b{i}"),
                  node("Add", f"a{i} {'b' if i % 2 else 'p'}{i}" if i else "a0 b0", f"q{i}"), node("Mul", f"q{i} q{i}", f"p{i + 1}")]
    nodes += [node("Unsqueeze", f"p{steps} zero1", "u"), node("ConstantOfShape", "u", "y")]
    return model(nodes, [value("x", F, ["n", "m"])], weights=[scalar("zero", 0), scalar("one", 1), ints("zero1", 0)])


def opsets(*pairs):
    made = model([node("Relu", "x", "y")])
    del made.opset_import[:]
    for domain, version in pairs:
        made.opset_import.append(helper.make_opsetid(domain, version))
    return made


def twice(attribute_of):
    made = model([attribute_of])
    made.graph.node[0].attribute.append(made.graph.node[0].attribute[0])
    return made


def weight(name, *dims):
    return numpy_helper.from_array(np.ones(dims, np.float32), name)


def dims_model(*dims):
    tensor = TensorProto(name="w", data_type=F, dims=dims, raw_data=b"\0" * 16)
    return model([node("Add", "x w", "y")], weights=[tensor])


def typed_shape(*dims):
    """An input of these dims, written by hand: onnx refuses some of them."""
    shape = b"".join(field(1, field(1, d)) for d in dims)
    graph_input = field(11, field(1, "x") + field(2, field(1, field(1, 1) + field(2, shape))))
    return raw_graph(field(1, field(1, "x") + field(2, "y") + field(4, "Relu")), graph_input, Y_OUTPUT)


def loop_with(body_initializers=(), recursion=False):
    body = helper.make_graph([node("Identity", "go", "on"), node("Add", "s s", "t")], "body", [value("i", I, []), value("go", B, []), value("s")],
                             [value("on", B, []), value("t")], list(body_initializers))
    return model([node("Loop", "n  x".replace("  ", " go0 "), "y", body=body)], weights=[scalar("n", 2), numpy_helper.from_array(np.bool_(True), "go0")])


# --- The cases: what is written, and the words that the error must hold. -------------------------------------------------

RNG = random.Random(5)
CASES = {
    # Not a model.
    "empty": (b"", "empty file"),
    "text": (b"dummy", "text"),
    "zip": (b"PK\x03\x04" + bytes(200), "ZIP"),
    "random": (bytes(RNG.randrange(256) for _ in range(100_000)), "not an ONNX model"),
    "random_model_start": (b"\x08\x08" + bytes(RNG.randrange(256) for _ in range(100_000)), "R110"),
    # Lengths and numbers.
    "giant_length": (field(1, 8) + varint(7 << 3 | 2) + varint(1 << 62), "ends in the middle"),
    "endless_varint": (field(1, 8) + varint(7 << 3) + b"\xff" * 4000, "R110"),
    "giant_string": (raw_graph(field(2, "n" * 5_000_000), X_INPUT, Y_OUTPUT), "longer than 4096"),
    "many_fields": (raw_graph(field(1, b"") * 2_000_000), "no operator name"),
    "many_names": (raw_graph(field(1, field(4, "Relu") + field(1, "x") * 4_000_000)), "R110|R12"),
    "negative_dim": (dims_model(-1, 4), "w.*negative dim|negative dim"),
    "huge_dim": (dims_model(1 << 62), "too many elements|bytes"),
    "overflowing_product": (dims_model(1 << 32, 1 << 32), "too many elements"),
    "many_dims": (dims_model(*([1] * 100)), "more than 64 dim|dimensions"),
    "negative_input_dim": (typed_shape(-5, 2), "negative dim"),
    "huge_input_dims": (typed_shape(1 << 40, 1 << 40), "too large|too many|R1106"),
    # Graphs.
    "cycle": (model([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Neg", "b", "y")]), "cycle.*relu_b|cycle"),
    "defined_twice": (model([node("Relu", "x", "y", "first"), node("Neg", "x", "y", "second")]), "second.*defined twice|defined twice"),
    "undefined": (model([node("Add", "x nothing", "y", "adder")]), "adder"),
    "duplicate_output": (model([node("Relu", "x", "y")], outputs=("y", "y")), "same name"),
    "attribute_twice": (twice(node("Softmax", "x", "y", "soft", axis=1)), "soft.*twice|twice"),
    "missing_input": (model([helper.make_node("Add", ["x"], ["y"], name="adder")]), "adder"),
    "ranks": (model([node("Conv", "x w", "y", "conv")], [value("x", F, [1, 2, 5, 5])], weights=[weight("w", 3, 2, 3, 3, 3)]), "conv"),
    "permutation": (model([node("Transpose", "x", "y", "turn", perm=[0, 0])]), "turn"),
    "split": (model([node("Split", "x sizes", "y z", "cut", axis=1)], weights=[ints("sizes", 1, 1)]), "cut"),
    "einsum": (model([node("Einsum", "x x", "y", "sum", equation="ab,bc,cd->ad")]), "sum"),
    "axis": (model([node("Softmax", "x", "y", "soft", axis=1 << 60)]), "soft"),
    "wrong_type": (model([node("Add", "x w", "y", "adder")], weights=[ints("w", 1)]), "adder"),
    "unknown_type": (model([node("Cast", "x", "y", "cast", to=9999)]), "cast"),
    "body_input_is_initializer": (loop_with([weight("s", 2, 3)]), "loop_y/body/s"),
    # Nesting and functions.
    "deep_graphs": (nested(3000), "nested more than 64"),
    "deep_beyond_the_stack": (nested(20_000), "nested more than 64"),
    "recursive_function": (model([call("A", "x", "y")], functions=[function("A", "a", "b", [call("A", "a", "b")])], domains=["f"]), "calls itself"),
    "mutual_recursion": (model([call("A", "x", "y")], functions=[function("A", "a", "b", [call("B", "a", "b")]), function("B", "a", "b", [call("A", "a", "b")])],
                               domains=["f"]), "calls itself"),
    "recursion_through_if": (recursive_through_if(), "calls itself"),
    "exploding_functions": (exploding_functions(), "too large when its functions are inlined|nested too deep"),
    # Versions.
    "ir_version_0": (model([node("Relu", "x", "y")], ir_version=0), "IR version"),
    "ir_version_huge": (model([node("Relu", "x", "y")], ir_version=1 << 40), "IR version.*too new"),
    "opset_0": (opsets(("", 0)), "operator set"),
    "opset_10000": (opsets(("", 10000)), "operator set.*too new"),
    "opset_twice": (opsets(("", 13), ("", 21)), "two versions"),
    "no_opset": (opsets(), "imports no operator set"),
    "other_domain_only": (opsets(("com.example", 1)), "relu_y|operator set"),
    "unknown_domain": (model([helper.make_node("Relu", ["x"], ["y"], domain="com.example", name="foreign")]), "foreign"),
    # External data without any file: the location alone is refused, or the file is not there.
    "external_missing": (external("nowhere.bin"), "w.*does not exist|does not exist"),
    "external_parent": (external("../w.bin"), "leaves the model's folder"),
    "external_parent_inside": (external("a/../../w.bin"), "leaves the model's folder"),
    "external_absolute": (external("/etc/passwd"), "absolute path"),
    "external_no_location": (external(None), "no location"),
    "external_negative": (external(offset=-16), "not a count of bytes"),
    "external_text": (external(length="many"), "not a count of bytes"),
    "external_unknown_key": (external(color="red"), "unknown key"),
}

# These are sound models that would take all memory if constants were folded without a limit. They build, or say that they are too large.
FOLDING = {
    "concat_40": growing("Concat", 40), "concat_12": growing("Concat", 12), "tile_40": growing("Tile", 40), "pad_40": growing("Pad", 40),
    "resize_40": growing("Resize", 40), "outer_30": growing("Outer", 30),
    "constant_of_shape": model([node("ConstantOfShape", "shape", "c"), node("ReduceSum", "c", "s", keepdims=0), node("Add", "x s", "y")], weights=[ints("shape", 1 << 20, 1 << 20)]),
    "range": model([node("Range", "a b c", "r"), node("Cast", "r", "f", to=F), node("ReduceSum", "f", "s", keepdims=0), node("Add", "x s", "y")],
                   weights=[scalar("a", 0), scalar("b", 1 << 60), scalar("c", 1)]),
    "expand": model([node("Expand", "w shape", "e"), node("ReduceSum", "e", "s", keepdims=0), node("Add", "x s", "y")], weights=[weight("w", 1), ints("shape", 1 << 30, 1 << 20)]),
    "one_hot": model([node("OneHot", "i depth v", "o"), node("ReduceSum", "o", "s", keepdims=0), node("Add", "x s", "y")],
                     weights=[ints("i", *range(100)), scalar("depth", 1 << 40), numpy_helper.from_array(np.array([0, 1], np.float32), "v")]),
    "many_constants": many_constants(3_000),
    "dft": model([node("DFT", "w  axis".replace("  ", " none "), "d"), node("ReduceSum", "d", "s", keepdims=0), node("Add", "x s", "y")],
                 weights=[weight("w", 1, 99_991, 1), scalar("axis", 1), scalar("none", 99_991)]),
    "matmul": model([node("MatMul", "a b", "m"), node("ReduceSum", "m", "s", keepdims=0), node("Add", "x s", "y")], weights=[weight("a", 2000, 2000), weight("b", 2000, 2000)]),
    "non_max_suppression": model([node("NonMaxSuppression", "boxes scores n", "i"), node("Cast", "i", "f", to=F), node("ReduceSum", "f", "s", keepdims=0), node("Add", "x s", "y")],
                                 weights=[numpy_helper.from_array(np.random.default_rng(1).random((1, 30_000, 4), np.float32), "boxes"), weight("scores", 1, 1, 30_000), scalar("n", 30_000)]),
    "shape_powers": power_of_shapes(40),
    "repeated_constant": repeated_constant(1000),
}


def write(folder, content):
    path = folder / "model.onnx"
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    return path


def within_limits(done, path):
    assert done.code >= 0, f"ended by signal {-done.code}\n{done.text[-2000:]}"
    assert done.cpu_s < SECONDS, f"{done.cpu_s:.2f} s of processor time\n{done.text[-2000:]}"
    limit = BYTES + FACTOR * path.stat().st_size
    assert done.peak_bytes < limit, f"{done.peak_bytes >> 20} MB, limit {limit >> 20} MB\n{done.text[-2000:]}"


@pytest.mark.parametrize("name", CASES)
def test_refused(name, rota_path, tmp_path):
    content, words = CASES[name]
    path = write(tmp_path, content)
    for command in (["check", path], ["build", path, "-o", tmp_path / "e.rota"]):
        done = measure(rota_path, *command, cwd=tmp_path)
        within_limits(done, path)
        assert done.code in ((1, 6) if re.search("operator set|too new|foreign|relu_y", words) else (1,)), done.text[-2000:]
        assert re.search(words, done.text), f"no '{words}' in\n{done.text[-2000:]}"
        assert re.search(r"R1\d{3}", done.text)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.onnx"]


@pytest.mark.parametrize("name", FOLDING)
def test_folding_is_bounded(name, rota_path, tmp_path):
    path = write(tmp_path, FOLDING[name])
    done = measure(rota_path, "build", path, "-o", tmp_path / "e.rota", cwd=tmp_path)
    within_limits(done, path)
    assert done.code == 0 or (done.code == 1 and re.search(r"R1\d{3}", done.text)), done.text[-2000:]
    if (tmp_path / "e.rota").exists():
        assert (tmp_path / "e.rota").stat().st_size < (96 << 20) + FACTOR * path.stat().st_size


# --- External data with files ---------------------------------------------------------------------------------------------

@pytest.fixture
def data_file(tmp_path):
    data = tmp_path / "w.bin"
    data.write_bytes(np.arange(1024, dtype=np.float32).tobytes())
    return data


def refused(rota_path, path, words, code=1):
    done = measure(rota_path, "check", path, cwd=path.parent)
    within_limits(done, path)
    assert done.code == code and re.search(words, done.text) and "'w'" in done.text or " w" in done.text, done.text
    return done


@pytest.mark.parametrize("offset, length", [(2**64 - 16, 32), (2**64 - 16, 4096), (4, 4096), (1 << 40, None), (0, 8192), (2**64, None), (0, 2**65)])
def test_external_ranges(offset, length, rota_path, tmp_path, data_file):
    refused(rota_path, write(tmp_path, external(offset=offset, length=length)), "R1105")


def test_external_shape_larger_than_file(rota_path, tmp_path, data_file):
    made = external(dims=(1 << 40,))
    made.graph.input[0].CopyFrom(value("x", F, [1]))
    refused(rota_path, write(tmp_path, made), "beyond the end")


def test_external_overlap_is_sharing(rota_path, tmp_path, data_file):
    """Two tensors over the same bytes read the same bytes: nothing is written through them."""
    made = external(dims=(512,), name="w", offset=0)
    other = external(dims=(512,), name="v", offset=1024).graph.initializer[0]
    made.graph.initializer.append(other)
    made.graph.node.append(node("Add", "y v", "z"))
    made.graph.output[0].name = "z"
    made.graph.input[0].CopyFrom(value("x", F, [512]))
    path = write(tmp_path, made)
    np.save(tmp_path / "x.npy", np.zeros(512, np.float32))
    done = measure(rota_path, "run", path, "--inputs", tmp_path, "--outputs", tmp_path / "out", cwd=tmp_path)
    assert done.code == 0, done.text
    assert np.array_equal(np.load(tmp_path / "out/z.npy"), np.arange(512) + np.arange(256, 768))


@pytest.mark.parametrize("kind", ["out", "folder_out", "pipe", "device", "folder", "socket", "loop"])
def test_external_links_and_devices(kind, rota_path, tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "w.bin").write_bytes(bytes(4096))
    location = "w.bin"
    if kind == "out":
        (inside / "w.bin").symlink_to(outside / "w.bin")
    elif kind == "folder_out":
        (inside / "sub").symlink_to(outside)
        location = "sub/w.bin"
    elif kind == "pipe":
        os.mkfifo(inside / "w.bin")
    elif kind == "device":
        (inside / "w.bin").symlink_to("/dev/zero")
    elif kind == "folder":
        (inside / "w.bin").mkdir()
    elif kind == "socket":
        import socket
        socket.socket(socket.AF_UNIX).bind(os.path.relpath(inside / "w.bin"))
    else:
        (inside / "w.bin").symlink_to("w.bin")
    refused(rota_path, write(inside, external(location)), "R1105")


def test_model_hub_layout_loads(rota_path, tmp_path):
    """Links inside the folder where the model really lies are how hubs lay out their caches."""
    blobs, shown = tmp_path / "blobs", tmp_path / "snapshots"
    blobs.mkdir()
    shown.mkdir()
    (blobs / "abc").write_bytes(np.ones(1024, np.float32).tobytes())
    write(blobs, external()).rename(blobs / "def")
    (shown / "model.onnx").symlink_to(blobs / "def")
    (shown / "w.bin").symlink_to(blobs / "abc")
    assert measure(rota_path, "check", shown / "model.onnx", cwd=tmp_path).code == 0


def test_two_models_one_name(rota_path, tmp_path):
    """Two models in one folder that name the same data file see what is in it now, each on its own."""
    results = []
    for number in (1.0, 2.0):
        (tmp_path / "w.bin").write_bytes(np.full(1024, number, np.float32).tobytes())
        path = write(tmp_path, external())
        np.save(tmp_path / "x.npy", np.zeros(1024, np.float32))
        assert measure(rota_path, "run", path, "--inputs", tmp_path, "--outputs", tmp_path / "out", cwd=tmp_path).code == 0
        results.append(float(np.load(tmp_path / "out/y.npy")[0]))
    assert results == [1.0, 2.0]


# --- Whole models damaged ---------------------------------------------------------------------------------------------------

def test_model_cut_at_200_places(rota_path, tmp_path):
    """As one file a cut is tested in src/import/onnx/hostile_test.cpp; here every 20th by the program."""
    whole = model([node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "y")], [value("x", F, [1, 2, 5, 5])], weights=[weight("w", 3, 2, 3, 3)]).SerializeToString()
    for i in range(0, 200, 20):
        path = write(tmp_path, whole[:i * len(whole) // 200])
        done = measure(rota_path, "check", path, cwd=tmp_path)
        within_limits(done, path)
        assert done.code == 1 and re.search(r"R110\d", done.text), f"cut {i}: {done.text}"


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/proc/self/mem", "/", "pipe"])
def test_paths_that_are_no_files(path, rota_path, tmp_path):
    if path == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path)
    for command in ("check", "inspect"):
        done = measure(rota_path, command, path, cwd=tmp_path)
        assert done.code in (1, 4) and re.search(r"R1\d{3}", done.text), done.text
        assert done.cpu_s < SECONDS


# --- Trivial models run (C27 b) ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["identity", "input_is_output", "initializer_is_output"])
def test_trivial_models_run(kind, rota_path, tmp_path):
    made = {"identity": model([node("Identity", "x", "y")]), "input_is_output": model([], outputs=(value("x"),)),
            "initializer_is_output": model([], outputs=(value("w"),), weights=[weight("w", 2, 3)])}[kind]
    path = write(tmp_path, made)
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    done = measure(rota_path, "run", path, "--inputs", tmp_path, "--outputs", tmp_path / "out", cwd=tmp_path)
    assert done.code == 0, done.text
    assert np.array_equal(np.load(next((tmp_path / "out").glob("*.npy"))), np.ones((2, 3)))


# --- JSON inputs ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", ["[" * 1_000_000, '{"x": ' * 300_000 + "1" + "}" * 300_000, "[" * 300_000 + "]" * 300_000, '{"x": [1, 2', "\x00", "[1e999999]"],
                         ids=["open", "objects", "lists", "cut", "zero", "infinite"])
def test_json_inputs(text, rota_path, tmp_path):
    path = write(tmp_path, model([node("Identity", "x", "y")]))
    (tmp_path / "in.json").write_text(text)
    done = measure(rota_path, "run", path, "--inputs", "x=" + str(tmp_path / "in.json"), cwd=tmp_path)
    assert done.code == 1 and re.search(r"R140\d", done.text), done.text[-500:]
    assert done.peak_bytes < BYTES + 40 * len(text)


def test_npz_bomb(rota_path, tmp_path):
    """An archive that says it unpacks to far more than its bytes can hold."""
    import io
    import zipfile
    path = write(tmp_path, model([node("Identity", "x", "y")]))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(1000))
    bytes_ = bytearray(out.getvalue())
    at = bytes_.find(b"PK\x01\x02") + 24
    bytes_[at:at + 4] = struct.pack("<I", 0xfffffff0)
    (tmp_path / "x.npz").write_bytes(bytes_)
    done = measure(rota_path, "run", path, "--inputs", tmp_path / "x.npz", cwd=tmp_path)
    within_limits(done, path)
    assert done.code == 1, done.text
