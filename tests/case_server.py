# SPDX-License-Identifier: Apache-2.0
"""Small models and their answers: a client of rota_case_server (tests/conformance/case_server.cpp), and models of one node.

A process that answers one model after the other makes thousands of them affordable. One that dies is a failing case, and a new
one is started for the next.
"""
import os
import struct
import subprocess
import tempfile

import ml_dtypes
import numpy as np
from onnx import TensorProto, ValueInfoProto, defs, helper, numpy_helper

OPSET = defs.onnx_opset_version()
NUMPY_NAMES = {"float4e2m1": "float4_e2m1fn", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2",
               "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu"}


class RotaError(Exception):
    """An error that Rota reported, as text: `R1042 at 'node': message; expected ...; found ...; ...`."""


def dtype_of(name):
    """The numpy type with Rota's name."""
    name = NUMPY_NAMES.get(name, name)
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


class CaseServer:
    def __init__(self, path):
        self.path, self.process = path, None
        # Engine files are synced, which takes ten times as long on a disk. The folder is ours, so that a server that dies leaves nothing.
        self.folder = tempfile.TemporaryDirectory(prefix="rota-cases-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.environment = {**os.environ, "TMPDIR": self.folder.name}

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(timeout=30)
            self.process = None
        self.folder.cleanup()

    def _exchange(self, parts):
        if self.process is None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        self.process.stdin.write(b"".join([struct.pack("<Q", len(parts)), *(piece for p in parts for piece in (struct.pack("<Q", len(p)), p))]))
        self.process.stdin.flush()
        return [self._read(self._number()) for _ in range(self._number())]

    def _read(self, size):
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise EOFError
        return data

    def _number(self):
        return struct.unpack("<Q", self._read(8))[0]

    def run(self, model, sets, mode="reference", ranges=None, threads=1):
        """The outputs of each set of inputs, in the order of the model's: arrays, and lists of them for sequences. `ranges`:
        for dynamic inputs, one (lo, opt, hi) a dim. Raises RotaError."""
        options = [f"mode {mode}", f"threads {threads}"]
        for name, dims in (ranges or {}).items():
            options.append(f"range {name} " + " ".join("%d:%d:%d" % r for r in dims))
        message = ["\n".join(options).encode(), model.SerializeToString()]
        message += [numpy_helper.from_array(np.asarray(value)).SerializeToString() for values in sets for value in values]
        try:
            answer = self._exchange(message)
        except (EOFError, BrokenPipeError):
            code = self.process.wait(timeout=30)
            self.process = None
            raise AssertionError(f"the server died with code {code} on {helper.printable_graph(model.graph)}") from None
        if answer[0] != b"ok":
            raise RotaError(answer[0].decode(errors="replace"))
        parts = iter(answer[1:])
        values = []
        for header in parts:
            values.append(self._value(header, parts))
        count = len(model.graph.output)
        assert not sets or len(values) == count * len(sets)
        return [values[i:i + count] for i in range(0, len(values), count)]

    def _value(self, header, parts):
        name, *numbers = header.decode().split()
        if name == "sequence":
            return [self._value(next(parts), parts) for _ in range(int(numbers[0]))]
        dtype, dims, data = dtype_of(name), [int(n) for n in numbers], next(parts)
        if dtype.itemsize == 1 and dtype.name in ("int4", "uint4", "int2", "uint2", "float4_e2m1fn"):
            tensor = TensorProto(data_type=helper.np_dtype_to_tensor_dtype(dtype), dims=dims, raw_data=data)
            return numpy_helper.to_array(tensor)
        return np.frombuffer(data, dtype).reshape(dims)


def model_of(nodes, inputs, outputs, opset=OPSET, constants=(), domains=()):
    """A model of these nodes. `inputs`: name to (dtype, dims), a dim being a number or a name; `constants`: name to array."""
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims) for name, (dtype, dims) in inputs.items()]
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()]
    graph = helper.make_graph(nodes, "case", infos, [ValueInfoProto(name=name) for name in outputs], weights)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def one_node(operator, values, attributes=None, outputs=1, opset=OPSET, fixed=(), dynamic=False):
    """(model, inputs, ranges) of one node named `node`. `values`: arrays, or None for an input that is not given; those whose
    index is in `fixed` become constants; `dynamic`: every dim of an input is a name of its own, with a range around its size."""
    names = ["" if value is None else f"x{i}" for i, value in enumerate(values)]
    node = helper.make_node(operator, names, [f"y{i}" for i in range(outputs)], name="node", **(attributes or {}))
    given = {name: np.asarray(value) for name, value in zip(names, values) if name}
    inputs = {name: value for name, value in given.items() if int(name[1:]) not in fixed}
    shapes = {name: [f"{name}_{d}" for d in range(value.ndim)] if dynamic else value.shape for name, value in inputs.items()}
    model = model_of([node], {name: (value.dtype, shapes[name]) for name, value in inputs.items()}, [f"y{i}" for i in range(outputs)], opset,
                     {name: value for name, value in given.items() if name not in inputs})
    ranges = {name: [(min(n, 1), n, n + 3) for n in value.shape] for name, value in inputs.items() if value.ndim} if dynamic else {}
    return model, list(inputs.values()), ranges
