#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the test cases of the installed onnx package as files, for rota_node_tests.

usage: export_node_tests.py FOLDER

FOLDER/CASE/model.onnx and FOLDER/CASE/test_data_set_N/{input,output}_I.pb; FOLDER/cases.tsv lists name, rtol, atol and
group (node, simple, pytorch-converted, pytorch-operator, light) of each. FOLDER/stamp holds the version it was made by;
nothing is done when it fits. The cases of group light are whole networks and slow.
"""
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.case.node import collect_testcases

FORMAT = 1  # of the folder; raised when this script writes something else


def value_proto(value, type_proto, name):
    """One input or output as the message that its type asks for."""
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    kind = type_proto.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, name)
    if kind == "optional_type":
        element = type_proto.optional_type.elem_type.WhichOneof("value")
        dtype = onnx.OptionalProto.SEQUENCE if element == "sequence_type" else onnx.OptionalProto.TENSOR
        return numpy_helper.from_optional(value, name, dtype)
    return numpy_helper.from_array(numpy.asarray(value), name)


def write_values(folder, prefix, values, infos):
    for i, (value, info) in enumerate(zip(values, infos, strict=True)):
        (folder / f"{prefix}_{i}.pb").write_bytes(value_proto(value, info.type, info.name).SerializeToString())


def export_node_case(case, folder):
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for n, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{n}"
        data.mkdir()
        write_values(data, "input", inputs, case.model.graph.input)
        write_values(data, "output", outputs, case.model.graph.output)


def export_light_case(model, folder):
    """A network whose weights are made by ConstantOfShape; the package has its output for an input of ascending numbers."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    shutil.copy(model, folder / "model.onnx")
    shutil.copy(model.with_name(model.stem + "_output_0.pb"), data / "output_0.pb")
    graph = onnx.load(model).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [info for info in graph.input if info.name not in constants]
    for i, info in enumerate(inputs):
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        count = int(numpy.prod(shape))
        values = (numpy.arange(count).reshape(shape) / count).astype(numpy.float32)
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(values, info.name).SerializeToString())


def export(folder):
    rows = []
    for case in collect_testcases(None):
        export_node_case(case, folder / case.name)
        rows.append((case.name, case.rtol, case.atol, "node"))
    for group in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in loader.load_model_tests(kind=group):
            shutil.copytree(case.model_dir, folder / case.name)
            rows.append((case.name, case.rtol, case.atol, group))
    for model in sorted((Path(loader.DATA_DIR) / "light").glob("*.onnx")):
        export_light_case(model, folder / model.stem)
        rows.append((model.stem, 1e-3, 1e-7, "light"))
    lines = ["\t".join(map(str, row)) for row in sorted(rows)]
    (folder / "cases.tsv").write_text("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    target = Path(sys.argv[1])
    stamp = f"onnx {onnx.__version__}, format {FORMAT}\n"
    if (target / "stamp").is_file() and (target / "stamp").read_text() == stamp:
        return
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # the cases overflow and divide by zero on purpose
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        folder = Path(temporary) / "cases"
        folder.mkdir()
        export(folder)
        (folder / "stamp").write_text(stamp)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(folder, target)


if __name__ == "__main__":
    main()
