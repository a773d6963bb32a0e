# SPDX-License-Identifier: Apache-2.0
"""Exporters' graphs from file to answer: build an engine with a profile, run it on two sets of inputs (two batch sizes and lengths where
the graph leaves them open), compare with ONNX Runtime.

The graphs of tests/models have no weights (see the README there); they are filled here, seeded by name.
"""
import time
import zlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

MODELS = sorted((Path(__file__).parent / "models").glob("*.onnx"))
FLOATS = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16, onnx.TensorProto.DOUBLE: np.float64}


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs(attribute.g)


def product_weights(model):
    """Names of tensors that products read, with the number of terms of a sum."""
    fans = {}
    shapes = {t.name: list(t.dims) for g in graphs(model.graph) for t in g.initializer}
    for g in graphs(model.graph):
        for node in g.node:
            if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul") and len(node.input) > 1 and len(shapes.get(node.input[1], [])) > 1:
                dims = shapes[node.input[1]]
                swapped = any(a.name == "transB" and a.i for a in node.attribute)
                fans[node.input[1]] = int(np.prod(dims[1:])) if node.op_type.startswith("Conv") or swapped else dims[-2]
    return fans


def fill(path, target):
    """The model with values for every tensor that has none."""
    model = onnx.load(path, load_external_data=False)
    fans = product_weights(model)
    for g in graphs(model.graph):
        constants = [a.t for n in g.node for a in n.attribute if n.op_type == "Constant" and a.name == "value"]
        for tensor in list(g.initializer) + constants:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                continue
            low, high, mean, std = map(float, tensor.doc_string.split()[1:5])
            noise = np.random.default_rng(zlib.crc32(tensor.name.encode())).standard_normal(int(np.prod(tensor.dims)))
            if tensor.name in fans:
                values = noise / np.sqrt(fans[tensor.name])
            elif std > 1e-12:
                values = np.clip(noise * std + mean, low, high)
            else:  # constant vectors of fresh layers: made to matter
                values = mean + 0.1 * np.clip(noise, -2, 2)
            tensor.raw_data = values.astype(FLOATS[tensor.data_type]).tobytes()
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]
    onnx.save(model, target)
    return model


def make_inputs(model, sizes, seed=7):
    """A value for each input: `sizes` are the first and the other open dims."""
    weights = {t.name for t in model.graph.initializer}
    generator = np.random.default_rng(seed)
    inputs = {}
    has_past = any(v.name.startswith("past") for v in model.graph.input)
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        dims = [d.dim_value or sizes[min(i, 1)] for i, d in enumerate(tensor.shape.dim)]
        if has_past and "mask" in value.name:
            dims[-1] += sizes[1]
            if len(dims) > 1 and not tensor.shape.dim[-1].dim_value:
                dims[-1] = sizes[1] + 1
        if tensor.elem_type in FLOATS:
            inputs[value.name] = generator.standard_normal(dims).astype(FLOATS[tensor.elem_type])
        elif tensor.elem_type == onnx.TensorProto.BOOL:
            inputs[value.name] = np.ones(dims, bool)
        else:
            kind = np.int64 if tensor.elem_type == onnx.TensorProto.INT64 else np.int32
            ones = "mask" in value.name or not dims
            inputs[value.name] = np.full(dims, 1 if dims else 5, kind) if ones else generator.integers(1, 100, dims).astype(kind)
    return inputs


def text(dims):
    return "x".join(map(str, dims)) or "scalar"


def run_engine(rota, engine, inputs, folder):
    folder.mkdir()
    for name, value in inputs.items():
        np.save(folder / (name.replace("/", "_") + ".npy"), value)
    rota("run", engine, "--inputs", folder, "--outputs", folder / "out", timeout=300)


def same(name, got, want):
    assert got.dtype == want.dtype and got.shape == want.shape, name
    if want.dtype.kind != "f":
        assert np.array_equal(got, want), name
        return
    error = np.linalg.norm((got - want).astype(np.float64)) / (np.linalg.norm(want.astype(np.float64)) or 1)
    assert error < (5e-3 if want.dtype == np.float16 else 1e-4), f"{name}: relative L2 {error:.1e}"


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_model(path, rota, tmp_path):
    model = fill(path, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    references = [(inputs, session.run(None, inputs)) for inputs in (make_inputs(model, (1, 16), 7), make_inputs(model, (2, 12), 8))]
    ranges = []
    for name in references[0][0]:
        shapes = [inputs[name].shape for inputs, _ in references]
        low, high = [min(d) for d in zip(*shapes)], [max(d) for d in zip(*shapes)]
        ranges += ["--shape", f"{name}={text(low)}"] if low == high else ["--profile", f"{name}={text(low)}:{text(shapes[0])}:{text(high)}"]
    engine = tmp_path / "model.rota"
    rota("build", tmp_path / "model.onnx", "-o", engine, "--level", "0", *ranges, timeout=300)
    for i, (inputs, outputs) in enumerate(references):
        run_engine(rota, engine, inputs, tmp_path / f"case{i}")
        for info, want in zip(session.get_outputs(), outputs):
            same(info.name, np.load(tmp_path / f"case{i}" / "out" / (info.name.replace("/", "_") + ".npy")), np.asarray(want))


def test_level_0_repeats_its_bytes(rota, tmp_path):
    """Equal input gives equal engine bytes (decision N11)."""
    fill(MODELS[0].parent / "rnn_gru.onnx", tmp_path / "model.onnx")
    for name in ("a", "b"):
        rota("build", tmp_path / "model.onnx", "-o", tmp_path / name, "--level", "0")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_there_are_models_enough():
    """Twelve graphs, of families that exporters tell apart: language, vision, speech, recurrent, control flow, ranking."""
    families = {path.stem.split("_")[0] for path in MODELS}
    assert len(MODELS) >= 12 and len(families) >= 6, (len(MODELS), families)


def test_windows_wider_than_the_image(rota, tmp_path):
    """A dilated convolution for which oneDNN has only plain loops in blocked layout: these took it over a minute."""
    generator = np.random.default_rng(3)
    weights = generator.standard_normal((256, 512, 3, 3)).astype(np.float32)
    conv = onnx.helper.make_node("Conv", ["x", "w"], ["c"], dilations=[36, 36], pads=[36] * 4)
    graph = onnx.helper.make_graph([conv, onnx.helper.make_node("Relu", ["c"], ["y"])], "g",
                                   [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 512, 65, 65])],
                                   [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 256, 65, 65])],
                                   [onnx.numpy_helper.from_array(weights, "w")])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    x = generator.standard_normal((1, 512, 65, 65)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    rota("build", "m.onnx", "-o", "m.rota", "--level", "0")
    start = time.monotonic()
    rota("run", "m.rota", "--inputs", "x=x.npy", "--outputs", "out")
    assert time.monotonic() - start < 3
    expected = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    found = np.load(tmp_path / "out/y.npy")
    assert np.linalg.norm(found - expected) <= 1e-5 * np.linalg.norm(expected)
