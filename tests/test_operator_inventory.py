# SPDX-License-Identifier: Apache-2.0
"""The inventory: every operator of the default domain in the pinned onnx package, in every version that an operator set from 7 to the newest
can name, in every combination of dtypes that its constraints allow. Each is a node of a model (tests/operator_forms.py has the forms) whose
answer rota_node_tests compares with the package's reference evaluator, run in the widest type of the same kind. What stays refused is listed here
with the reason; the list is enforced both ways."""
import itertools
import re
import subprocess
import warnings
from collections import Counter, defaultdict

import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

try:
    import onnxruntime as ort
except ImportError:
    ort = None

from operator_forms import Seq, V, forms_of

OLDEST = 7

# What stays refused, and why. Strings are refused for every operator; see test_strings_are_refused_in_the_right_words.
REFUSED = {
    "ImageDecoder": "compressed images are not decoded inside an engine",
}

# Types that came with operator set 28 and have no row in the dtype table yet.
LEFT_OUT = {"float6e2m3": "6-bit floats", "float6e3m2": "6-bit floats"}

# Where the package's evaluator is known to be wrong or to ignore inputs, ONNX Runtime answers.
WRONG_IN_PACKAGE = {
    "BatchNormalization": "mixes the statistics in version 9",
    "LRN": "sums over too few channels",
    "LSTM": "ignores sequence_lens", "GRU": "ignores sequence_lens", "RNN": "ignores sequence_lens",
    "QLinearConv": "rounds before it adds", "RoiAlign": "ignores that version 10 has no half-pixel shift",
}

STRINGS_ONLY = {"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"}

WIDEST = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "u": TensorProto.UINT64, "b": TensorProto.BOOL, "c": TensorProto.COMPLEX128}
# What ONNX Runtime has kernels for.
USUAL = {**WIDEST, "f": TensorProto.FLOAT, "u": TensorProto.UINT8, "c": TensorProto.COMPLEX64}
KINDS = {
    "f": "float double float16 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float4e2m1 float6e2m3 float6e3m2",
    "i": "int2 int4 int8 int16 int32 int64",
    "u": "uint2 uint4 uint8 uint16 uint32 uint64",
    "b": "bool",
    "c": "complex64 complex128",
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split()}
NUMBER_OF = {name: TensorProto.DataType.Value(name.upper()) for name in KIND_OF if name.upper() in TensorProto.DataType.keys()}
NAME_OF = {number: name for name, number in NUMBER_OF.items()}
BITS = {name: int(re.search(r"\d+", {"float": "32", "double": "64", "bool": "8", "bfloat16": "16"}.get(name, name)).group()) for name in KIND_OF}
TINY = {"int2", "uint2", "bool"}
POWERS = {"float8e8m0"}


def np_type(number):
    return helper.tensor_dtype_to_np_dtype(number)


def parse_type(text):
    """("tensor" | "seq" | "optional" | "optional_seq", dtype name)."""
    wrappers = re.findall(r"(seq|optional|tensor)\(", text)
    dtype = re.search(r"tensor\((\w+)\)", text).group(1)
    return ("_".join(w for w in wrappers if w != "tensor") or "tensor", dtype)


def type_proto(kind, number, shape=None):
    tensor = helper.make_tensor_type_proto(number, shape)
    sequence = helper.make_sequence_type_proto(tensor)
    return {"tensor": tensor, "seq": sequence, "optional": helper.make_optional_type_proto(tensor),
            "optional_seq": helper.make_optional_type_proto(sequence)}[kind]


def small_values(shape, salt, dtypes):
    """0 to 3 in a fixed disorder, as far as these dtypes have them."""
    values = (np.arange(int(np.prod(shape, dtype=np.int64))) * 5 + 3 * salt + 1) % 4
    if dtypes & POWERS:
        values = np.ones_like(values) if dtypes & TINY else 2 ** (values % 2)
    elif dtypes & TINY:
        values %= 2
    return values.reshape(shape)


class Node:
    """One form with one choice of types. `wide` (WIDEST or USUAL) puts a type of the same kind in the place of each."""

    def __init__(self, schema, form, types):
        self.schema, self.form, self.types = schema, form, types

    def label(self):
        return ", ".join(f"{name} {'' if kind == 'tensor' else kind + ' '}{dtype}" for name, (kind, dtype) in sorted(self.types.items()))

    def type_of(self, text):
        return self.types[text] if text in self.types else parse_type(text)

    def number(self, dtype, wide):
        return wide[KIND_OF[dtype]] if wide else NUMBER_OF[dtype]

    def formal(self, formals, i):
        return formals[min(i, len(formals) - 1)]

    def input_value(self, i, wide):
        """A numpy array, a list of them, or None."""
        given = self.form.inputs[i]
        if given is None:
            return None
        _, dtype = self.type_of(self.formal(self.schema.inputs, i).type_str)
        target = np_type(self.number(dtype, wide))
        if isinstance(given, V):
            return np.array(given.values).astype(target)
        if isinstance(given, Seq):
            return [self.small_values(shape, i + k).astype(target) for k, shape in enumerate(given.shapes)]
        return self.small_values(given, i).astype(target)

    def value_info(self, i, name, value, kind, wide):
        number = self.number(self.type_of(self.formal(self.schema.inputs, i).type_str)[1], wide)
        return helper.make_value_info(name, type_proto(kind, number, None if isinstance(value, list) else value.shape))

    def output_type(self, i):
        return self.type_of(self.formal(self.schema.outputs, i).type_str)

    def values_of(self, shape, dtype, wide):
        return self.small_values(shape, 2).astype(np_type(self.number(dtype, wide)))

    def has(self, dtypes):
        return any(dtype in dtypes for _, dtype in self.types.values())

    def small_values(self, shape, salt):
        return small_values(shape, salt, {dtype for _, dtype in self.types.values()})

    def info_of(self, name, variable, wide):
        """A value of the type of `variable` (or of this type) without a shape."""
        kind, dtype = self.types[variable] if isinstance(variable, str) else variable
        return helper.make_value_info(name, type_proto(kind, self.number(dtype, wide)))

    def type_of_input(self, name):
        kind, _ = self.type_of(self.formal(self.schema.inputs, int(name.rsplit("x", 1)[1])).type_str)
        return kind

    def output_info(self, name, i, wide=None):
        kind, dtype = self.output_type(i)
        return helper.make_value_info(name, type_proto(kind, self.number(dtype, wide)))

    def make(self, prefix, wide=None):
        """(node, value infos, values, output names)."""
        names, infos, values = [], [], []
        for i in range(len(self.form.inputs)):
            value = self.input_value(i, wide)
            names.append("" if value is None else f"{prefix}x{i}")
            if value is None:
                continue
            kind, _ = self.type_of(self.formal(self.schema.inputs, i).type_str)
            if kind == "optional" and isinstance(value, list):
                value = value[0]
            elif kind != "tensor" and not isinstance(value, list):
                value = [value]
            infos.append(self.value_info(i, names[-1], value, kind, wide))
            values.append((names[-1], value))
        outputs = [f"{prefix}y{i}" for i in range(self.form.outputs)]
        attributes = {key: value(self, wide) if callable(value) else value for key, value in self.form.attributes.items()}
        for variable, attribute in self.form.dtype_attributes.items():
            attributes[attribute] = self.number(self.types[variable][1], wide)
        if self.form.blocks:
            attributes.update(self.form.blocks(self, prefix, wide))
        node = helper.make_node(self.schema.name, names, outputs, **attributes)
        return node, infos, values, outputs


def variables_of(schema, form):
    """The type variables that inputs and dtype attributes of the form leave open, with what they may be."""
    used = {schema.inputs[min(i, len(schema.inputs) - 1)].type_str for i, given in enumerate(form.inputs) if given is not None}
    used |= set(form.dtype_attributes) | {output.type_str for output in schema.outputs[:form.outputs]}
    return {c.type_param_str: [parse_type(text) for text in c.allowed_type_strs if not re.search("string|map|float6", text)]
            for c in schema.type_constraints if c.type_param_str in used}


def is_consistent(schema, form, types):
    """What the text of the standard says about types beside the constraints."""
    check = CONSISTENT.get(schema.name)
    return check is None or check(schema, form, types)


def seq_of_same(schema, form, types):
    return types["S"][1] == types["T"][1]


def optional_of_same(schema, form, types):
    if set(types) != {"V", "O"}:
        return True
    (kind, dtype), outer = types["V"], types["O"]
    return outer == ({"tensor": "optional", "seq": "optional_seq"}[kind], dtype) or outer == (kind, dtype)


def output_follows(output, source):
    """Without an attribute for it, the type `output` is that of `source`."""
    return lambda schema, form, types: output in form.dtype_attributes or output not in types or types[output] == types[source]


CONSISTENT = {
    "BitCast": lambda schema, form, types: BITS[types["T1"][1]] == BITS[types["T2"][1]],
    "ConcatFromSequence": seq_of_same, "SequenceAt": seq_of_same, "SequenceConstruct": seq_of_same, "SequenceInsert": seq_of_same,
    "SplitToSequence": seq_of_same,
    "Optional": optional_of_same, "OptionalGetElement": optional_of_same,
    "EyeLike": output_follows("T2", "T1"),
    "DequantizeLinear": output_follows("T3", "T2"),
    "LinearAttention": output_follows("S", "T"),
}


def choices(allowed, every):
    """Every combination, or every type of each variable beside the first ones of the others."""
    if every:
        return itertools.product(*allowed)
    first = [types[0] for types in allowed]
    return dict.fromkeys(tuple(first[:k] + [dtype] + first[k + 1:]) for k, types in enumerate(allowed) for dtype in types)


def nodes_of(schema, form, every=True):
    variables = variables_of(schema, form)
    if "tensor(string)" in [formal.type_str for formal in schema.inputs] or not all(variables.values()):
        return
    for choice in choices(list(variables.values()), every):
        types = dict(zip(variables, choice, strict=True))
        if form.fits(types) and is_consistent(schema, form, types):
            yield Node(schema, form, types)


def optional_contents(kind, value):
    """The package gives what an optional holds as a list of one."""
    if kind.startswith("optional") and isinstance(value, list) and len(value) == 1 and (kind == "optional" or isinstance(value[0], list)):
        return value[0]
    return value


class Oracle:
    """Answers of the package's evaluator: in the widest types of the same kinds, once for each kind of values; where it has none, in the
    types themselves; else those of ONNX Runtime, if it is installed and has the operator in these or the usual types; else None."""

    def __init__(self):
        self.known = {}
        self.forms = []  # kept alive, since their ids are keys

    def answer(self, node, opset):
        if node.form.answer:
            return node.form.answer(node, [value for _, value in node.make("")[2]])
        key = (id(node.form), opset, *sorted((name, kind, KIND_OF[dtype]) for name, (kind, dtype) in node.types.items()),
               node.has(TINY), node.has(POWERS))
        if key not in self.known:
            self.forms.append(node.form)
            self.known[key] = self.reference(node, opset, WIDEST)
        answer = self.known[key]
        if answer is None:
            answer = self.reference(node, opset, None)
        if answer is None:
            answer = self.runtime(node, opset, None)
        if answer is None:
            answer = self.runtime(node, min(opset, 21), USUAL)
        return answer

    def model(self, node, opset, wide):
        made, infos, values, outputs = node.make("", wide)
        graph = helper.make_graph([made], "one", infos, [node.output_info(name, i, wide) for i, name in enumerate(outputs)])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), dict(values)

    def reference(self, node, opset, wide):
        if node.schema.name in WRONG_IN_PACKAGE:
            return None
        model, values = self.model(node, opset, wide)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ReferenceEvaluator(model).run(None, values)
            except Exception:  # noqa: BLE001, the package raises anything
                return None

    def runtime(self, node, opset, wide):
        if ort is None:
            return None
        model, values = self.model(node, opset, wide)
        options = ort.SessionOptions()
        options.log_severity_level = 4
        try:
            return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, values)
        except Exception:  # noqa: BLE001, of any kind when it lacks operator or type
            return None


def versions():
    """(schema, operator set) for every definition that an operator set from 7 on can name."""
    by_name = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            by_name[schema.name].append(schema)
    for name in sorted(by_name):
        history = sorted(by_name[name], key=lambda schema: schema.since_version)
        for k, schema in enumerate(history):
            last = history[k + 1].since_version - 1 if k + 1 < len(history) else defs.onnx_opset_version()
            if not schema.deprecated and last >= OLDEST:
                yield schema, max(schema.since_version, OLDEST), last


def precision(node):
    """Cases are grouped by the coarsest float among their types: (name, rtol, atol)."""
    dtypes = {dtype for _, dtype in node.types.values()}
    if any(dtype.startswith(("float8", "float4", "float6")) for dtype in dtypes):
        return ("tiny", 0.15, 0.15)
    return ("half", 0.01, 0.01) if dtypes & {"float16", "bfloat16"} else ("wide", 1e-4, 1e-5)


def expected_value(value, number):
    """An answer of the oracle in the dtype of the node's output."""
    if isinstance(value, list):
        return [expected_value(element, number) for element in value]
    array = np.asarray(value)
    target = np_type(number)
    if array.dtype.kind == "f" and np.dtype(target).kind in "iu":
        nearest = np.rint(array)
        array = np.where(np.abs(array - nearest) < 1e-6, nearest, array).astype(np.int64)
    with np.errstate(all="ignore"):
        return array.astype(target)


def write_value(path, value, name, kind):
    if kind == "optional" and isinstance(value, list):
        value = value[0]
    if kind == "seq" or kind == "optional_seq" and isinstance(value, list):
        proto = numpy_helper.from_list(value, name)
        if kind == "optional_seq":
            proto = numpy_helper.from_optional(value, name, onnx.OptionalProto.SEQUENCE)
    elif kind == "optional":
        proto = numpy_helper.from_optional(value, name, onnx.OptionalProto.TENSOR)
    else:
        proto = numpy_helper.from_array(np.asarray(value), name)
    path.write_bytes(proto.SerializeToString())


class Writer:
    """Gathers nodes into models, one for each definition and precision, and writes them as cases of rota_node_tests."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = []
        self.labels = {}
        self.open_nodes = Counter()
        self.nodes = 0

    def write(self, name, opset, nodes, oracle, rtol, atol):
        made, infos, values, expected, results = [], [], [], [], []
        for k, node in enumerate(nodes):
            one, its_infos, its_values, outputs = node.make(f"n{k}_")
            answer = None if node.form.is_open else oracle.answer(node, opset)
            if answer is None:
                self.open_nodes[node.schema.name] += 1
            made.append(one)
            infos += its_infos
            values += [(info.name, value, node.type_of_input(info.name)) for info, (_, value) in zip(its_infos, its_values, strict=True)]
            self.labels[(name, one.output[0])] = node.label()
            for i, output in enumerate(outputs):
                kind, dtype = node.output_type(i)
                results.append(node.output_info(output, i))
                known = answer is not None and i < len(answer) and answer[i] is not None
                expected.append((output, expected_value(optional_contents(kind, answer[i]), NUMBER_OF[dtype]) if known else None, kind))
        self.nodes += len(nodes)
        graph = helper.make_graph(made, name, infos, results)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        data = self.folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        (self.folder / name / "model.onnx").write_bytes(model.SerializeToString())
        packed = []
        for role, those in (("input", values), ("output", expected)):
            for i, (value_name, value, kind) in enumerate(those):
                if kind == "tensor" and value is not None:
                    packed.append(numpy_helper.from_array(np.asarray(value), f"{role}_{i}"))
                elif value is not None:
                    write_value(data / f"{role}_{i}.pb", value, value_name, kind)
        if packed:
            first = helper.make_tensor_value_info(packed[0].name, packed[0].data_type, list(packed[0].dims))
            graph = helper.make_graph([], "values", [], [first], packed)
            (data / "values.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]).SerializeToString())
        self.rows.append(f"{name}\t{rtol}\t{atol}\trun")

    def finish(self):
        (self.folder / "cases.tsv").write_text("\n".join(sorted(self.rows)) + "\n")


def write_inventory(folder, names=None, split=False):
    """`names`: these operators only; `split`: each node is a case of its own, to see all that fails."""
    writer, oracle = Writer(folder), Oracle()
    for schema, oldest, last in versions():
        if (names and schema.name not in names) or schema.name in REFUSED:
            continue
        forms = forms_of(schema.name, schema.since_version, len(schema.inputs))
        groups = defaultdict(list)
        for form in forms or []:
            for node in nodes_of(schema, form, every=last == defs.onnx_opset_version()):
                groups[precision(node)].append(node)
        for (group, rtol, atol), nodes in groups.items():
            parts = [[node] for node in nodes] if split else [nodes]
            for k, part in enumerate(parts):
                writer.write(f"{schema.name}_{oldest}_{group}" + (f"_{k}" if split else ""), oldest, part, oracle, rtol, atol)
        # The form of a definition holds up to the operator set before the next one.
        first = [next(nodes_of(schema, form), None) for form in forms] if last > oldest else []
        if any(first):
            writer.write(f"{schema.name}_{last}_last", last, [node for node in first if node], oracle, 0.15, 0.15)
    writer.finish()
    return writer


@pytest.fixture(scope="module")
def program(root):
    path = root / "build/release/tests/rota_node_tests"
    assert path.is_file(), f"{path} is not built: make build"
    return path


def test_every_version_and_dtype_runs_and_is_right(program, tmp_path):
    writer = write_inventory(tmp_path)
    done = subprocess.run([program, tmp_path], capture_output=True, text=True, timeout=300)
    print(done.stdout[-20000:])
    assert re.fullmatch(rf"{len(writer.rows)} passed, 0 failed, 0 excluded", done.stdout.strip().splitlines()[-1])
    # Answers are compared for nearly all; those that nothing can answer are run at least.
    assert sum(writer.open_nodes.values()) < 0.08 * writer.nodes, writer.open_nodes


def test_every_operator_has_a_form():
    """An operator whose newest definition gives no node would go unseen."""
    unseen = []
    for schema, _, last in versions():
        if last == defs.onnx_opset_version() and schema.name not in REFUSED and schema.name not in STRINGS_ONLY:
            forms = forms_of(schema.name, schema.since_version, len(schema.inputs))
            unseen += [schema.name for form in forms if not any(nodes_of(schema, form))]
    assert not unseen


def check_text(rota, path, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "refused", inputs, outputs)
    imports = [helper.make_opsetid("", defs.onnx_opset_version()), helper.make_opsetid("com.example", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=imports).SerializeToString())
    done = rota("check", path, code=6)
    return done.stdout + done.stderr


def test_what_is_refused_is_refused_in_the_right_words(rota, tmp_path):
    stream = helper.make_tensor_value_info("x", TensorProto.UINT8, [None])
    image = helper.make_tensor_value_info("y", TensorProto.UINT8, None)
    text = check_text(rota, tmp_path / "image.onnx", [helper.make_node("ImageDecoder", ["x"], ["y"], name="decode")], [stream], [image])
    assert "decode" in text and "ImageDecoder" in text
    for dtype, what in LEFT_OUT.items():
        number = TensorProto.DataType.Value(dtype.upper())
        ends = [helper.make_tensor_value_info(name, number, [2]) for name in "xy"]
        text = check_text(rota, tmp_path / "left_out.onnx", [helper.make_node("Identity", ["x"], ["y"])], ends[:1], ends[1:])
        assert f"data type {number}" in text, what


def test_strings_and_custom_domains_are_named_all_at_once(rota, tmp_path):
    """Every operator that may have strings, with a string input, and two operators of another domain, in one model: one answer names all."""
    nodes, inputs = [], []
    for schema, _, last in versions():
        if last != defs.onnx_opset_version() or not schema.inputs:
            continue
        strings = [c.type_param_str for c in schema.type_constraints if "tensor(string)" in c.allowed_type_strs]
        if schema.inputs[0].type_str in [*strings, "tensor(string)"]:
            inputs.append(helper.make_tensor_value_info(f"text_{schema.name}", TensorProto.STRING, [2]))
            required = sum(i.option.name == "Single" for i in schema.inputs)
            nodes.append(helper.make_node(schema.name, [inputs[-1].name] * max(1, required), [f"y_{schema.name}"], name=f"n_{schema.name}"))
    number = helper.make_tensor_value_info("number", TensorProto.FLOAT, [2])
    nodes += [helper.make_node("Mystery", ["number"], ["m"], name="mystery_7", domain="com.example"),
              helper.make_node("Riddle", ["m"], ["r"], name="riddle_8", domain="com.example"),
              helper.make_node("Constant", [], ["words"], name="words", value_strings=["a", "b"])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("r", "words")]
    text = check_text(rota, tmp_path / "strings.onnx", nodes, [*inputs, number], outputs)
    assert "string tensors are not supported" in text
    assert len(inputs) > 40
    assert f"({len(inputs)} times)" in text, text
    for name in ("com.example.Mystery", "mystery_7", "com.example.Riddle", "riddle_8", "words"):
        assert name in text, text
