# SPDX-License-Identifier: Apache-2.0
"""One small node for every operator of the default domain, in every form that a version of it has: what tests/test_operator_inventory.py
runs in all dtypes. Inputs are a shape (small values of the dtype at hand), V (these values, in the dtype of the formal), Seq, or None (left
out). Where a form changed, the function of the operator looks at the version of the definition."""
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
from onnx import TensorProto, defs, helper, numpy_helper


def np_dtype(name):
    return helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name.upper()))


@dataclass
class V:
    """These values, in the dtype that the formal has."""
    values: Any


@dataclass
class Seq:
    """A sequence (or an optional) of small tensors."""
    shapes: list


@dataclass
class Form:
    inputs: list
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    # Attributes that say a dtype: type variable -> attribute.
    dtype_attributes: dict = field(default_factory=dict)
    # Graphs as attributes: a function of the node, a prefix for names, and whether the widest types are wanted.
    blocks: Callable | None = None
    # Combinations of types that the text of the standard rules out though the constraints allow them.
    fits: Callable = lambda types: True
    # Values that the standard leaves open: the node is run, its values are not compared.
    is_open: bool = False
    # The answers, from the node and its inputs, where the package's evaluator cannot be asked.
    answer: Callable | None = None


def F(*inputs, outputs=1, dtypes=None, blocks=None, fits=None, is_open=False, answer=None, **attributes):
    return Form(list(inputs), attributes, outputs, dtypes or {}, blocks, fits or (lambda types: True), is_open, answer)


X = (2, 3)
IMAGE = (1, 2, 4, 4)
GRID = V([[[[-0.25, -0.25], [0.75, -0.75]]]])  # on elements of an image of 4 x 4


def same(*inputs, **attributes):
    """One form that no version has changed."""
    form = F(*inputs, **attributes)
    return lambda version: [form]


def ints(*values):
    return V(list(values))


def axes_form(since, shape, axes, **attributes):
    """Axes as an attribute, as an input from version `since` on."""
    return lambda version: [F(shape, ints(*axes), **attributes) if version >= since else F(shape, axes=list(axes), **attributes)]


def reduction(since, of_nothing=True):
    """`of_nothing`: also over no axes."""
    def forms(version):
        if version >= since:
            return [F(X, ints(1)), F(X, ints(-1), keepdims=0), F(X)] + [F(X, V([]), noop_with_empty_axes=1)] * of_nothing
        return [F(X, axes=[1]), F(X, axes=[0], keepdims=0), F(X)]
    return forms


def slice_forms(version):
    if version >= 10:
        return [F((4, 3), ints(1, 0), ints(4, 2)), F((4, 3), ints(3), ints(0), ints(0), ints(-2))]
    return [F((4, 3), starts=[1, 0], ends=[4, 2], axes=[0, 1])]


def clip_forms(version):
    if version >= 11:
        return [F(X, V(1), V(2)), F(X, None, V(2)), F(X)]
    return [F(X, min=1.0, max=2.0)]


def has_zero(types):
    """The default of the padding is a zero."""
    return types["T"][1] != "float8e8m0"


def pad_forms(version):
    if version >= 11:
        forms = [F(X, ints(0, 1, 2, 0), fits=has_zero), F(X, ints(0, 1, 2, 0), V(1)), F(X, ints(0, 1, 0, 1), mode="reflect")]
        return forms + ([F(X, ints(1, 2), None, ints(1), fits=has_zero)] if version >= 18 else [])
    return [F(X, pads=[0, 1, 2, 0], value=1.0)]


def split_forms(version):
    if version >= 18:
        return [F((4, 3), ints(1, 3), outputs=2), F((4, 3), num_outputs=2, outputs=2)]
    if version >= 13:
        return [F((4, 3), ints(1, 3), outputs=2), F((4, 3), outputs=2)]
    return [F((4, 3), split=[1, 3], outputs=2), F((4, 3), outputs=2)]


def topk_forms(version):
    data = V([[3, 1, 2, 0, 5]])
    if version < 10:
        return [F(data, k=2, outputs=2)]
    return [F(data, ints(2), outputs=2)] + ([F(data, ints(2), largest=0, outputs=2)] if version >= 11 else [])


def resize_forms(version):
    if version == 10:
        return [F((1, 1, 2, 3), V([1, 1, 2, 2]))]
    return [F((1, 1, 2, 3), None, V([1, 1, 2, 2])), F((1, 1, 2, 3), None, None, ints(1, 1, 4, 6), mode="linear", coordinate_transformation_mode="asymmetric")]


def recurrent(gates):
    hidden, inputs = 2, 3
    w = (1, gates * hidden, inputs)
    r = (1, gates * hidden, hidden)
    b = (1, 2 * gates * hidden)
    outputs = 3 if gates == 4 else 2
    return lambda version: [F((4, 2, inputs), w, r, hidden_size=hidden, outputs=outputs),
                            F((4, 2, inputs), w, r, b, V([4, 2]), hidden_size=hidden, outputs=outputs)]


def dequantize_forms(version):
    dtypes = {"T3": "output_dtype"} if version >= 23 else {}
    return [F(*form.inputs, dtypes=dtypes, **form.attributes) for form in quantize_forms(version)]


def bits_again(node, values):
    """The bytes of the input as another type of the same size."""
    return [values[0].view(np_dtype(node.types["T2"][1]))]


def quantize_forms(version):
    forms = [F((2, 4), V(1), V(0))]
    if version >= 13:
        forms.append(F((2, 4), V([1, 2]), V([0, 0]), axis=0))
    if version >= 21:
        forms.append(F((2, 4), V([[1, 2], [1, 2]]), V([[0, 0], [0, 0]]), axis=1, block_size=2))
    return forms


def has_order(types):
    return "complex" not in types["T"][1]


def scatter_forms(version):
    forms = [F((3, 3), V([[1, 0, 2]]), (1, 3))]
    if version >= 16:
        forms += [F((3, 3), V([[1, 0, 2]]), (1, 3), reduction="add"), F((3, 3), V([[1, 0, 2]]), (1, 3), reduction="mul")]
    if version >= 18:
        forms += [F((3, 3), V([[1, 0, 2]]), (1, 3), reduction="max", fits=has_order)]
    return forms


def scatter_nd_forms(version):
    forms = [F((4, 2), V([[2], [0]]), (2, 2))]
    if version >= 16:
        forms += [F((4, 2), V([[2], [0]]), (2, 2), reduction="add")]
    if version >= 18:
        forms += [F((4, 2), V([[2], [0]]), (2, 2), reduction="min", fits=has_order)]
    return forms


# --- Operators that get a value, a type or a block by an attribute. The functions take the node, with the types chosen, and whether the
# widest types are wanted.


def constant(variable, shape):
    def attribute(node, wide):
        dtype = node.types[variable][1]
        return numpy_helper.from_array(node.values_of(shape, dtype, wide), "value")
    return attribute


def number_of(variable):
    return lambda node, wide: node.number(node.types[variable][1], wide)


def produce(node, prefix, name, wide):
    """Nodes of a block that make a value of the type of V."""
    kind, dtype = node.types["V"]
    tensor = numpy_helper.from_array(node.values_of(X, dtype, wide), "value")
    steps = {"tensor": [], "seq": ["SequenceConstruct"], "optional": ["Optional"], "optional_seq": ["SequenceConstruct", "Optional"]}[kind]
    names = [f"{prefix}{name}{i}" for i in range(len(steps))] + [f"{prefix}{name}"]
    nodes = [helper.make_node("Constant", [], [names[0]], value=tensor)]
    nodes += [helper.make_node(step, [names[i]], [names[i + 1]]) for i, step in enumerate(steps)]
    return nodes, names[-1]


SEQUENCES_OF = {parse.split("(")[-1].rstrip(")") for parse in defs.get_schema("SequenceConstruct").type_constraints[0].allowed_type_strs}


def can_be_made(types):
    """A block makes its sequences by SequenceConstruct, which has fewer types than If."""
    kind, dtype = types["V"]
    return "seq" not in kind or dtype in SEQUENCES_OF


def if_blocks(node, prefix, wide):
    graphs = {}
    for branch in ("then_branch", "else_branch"):
        nodes, result = produce(node, prefix, branch, wide)
        graphs[branch] = helper.make_graph(nodes, branch, [], [node.info_of(result, "V", wide)])
    return graphs


def loop_blocks(node, prefix, wide):
    names = {key: prefix + key for key in ("turn", "on", "state", "on_out", "state_out")}
    nodes = [helper.make_node("Identity", [names["on"]], [names["on_out"]]), helper.make_node("Identity", [names["state"]], [names["state_out"]])]
    inputs = [helper.make_tensor_value_info(names["turn"], TensorProto.INT64, []), helper.make_tensor_value_info(names["on"], TensorProto.BOOL, []),
              node.info_of(names["state"], "V", wide)]
    outputs = [helper.make_tensor_value_info(names["on_out"], TensorProto.BOOL, []), node.info_of(names["state_out"], "V", wide)]
    return {"body": helper.make_graph(nodes, "body", inputs, outputs)}


def scan_blocks(node, prefix, wide):
    names = {key: prefix + key for key in ("state", "slice", "state_out", "slice_out")}
    nodes = [helper.make_node("Identity", [names["slice"]], [names["state_out"]]), helper.make_node("Identity", [names["state"]], [names["slice_out"]])]
    infos = {key: node.info_of(name, "V", wide) for key, name in names.items()}
    return {"body": helper.make_graph(nodes, "body", [infos["state"], infos["slice"]], [infos["state_out"], infos["slice_out"]])}


def map_blocks(node, prefix, wide):
    names = [prefix + key for key in ("element", "element_out")]
    infos = [node.info_of(name, ("tensor", node.types["S"][1]), wide) for name in names]
    return {"body": helper.make_graph([helper.make_node("Identity", names[:1], names[1:])], "body", infos[:1], infos[1:])}


def scan_forms(version):
    if version == 8:
        return [F(None, (2, 3), (2, 4, 3), num_scan_inputs=1, outputs=2, blocks=scan_blocks)]
    return [F((3,), X, num_scan_inputs=1, outputs=2, blocks=scan_blocks)]


def attention_forms(version):
    head = (1, 2, 3, 4)
    forms = [F(head, head, head), F((1, 3, 8), (1, 3, 8), (1, 3, 8), q_num_heads=2, kv_num_heads=2, is_causal=1), F(head, head, head, (3, 3))]
    return forms


FORMS = {
    "AffineGrid": same(V([[[1, 0, 0], [0, 1, 1]]]), ints(1, 1, 2, 3)),
    "And": same(X, X),
    "ArgMax": same(V([[3, 1, 2], [0, 2, 5]]), axis=1),
    "ArgMin": same(V([[3, 1, 2], [0, 2, 5]]), axis=1, keepdims=0),
    "Acosh": same(V([[1, 2, 4]])),
    "Acos": same(V([[1, 0, 0.5]])),
    "Asin": same(V([[1, 0, 0.5]])),
    "Atanh": same(V([[0, 0.5, -0.5]])),
    "Attention": attention_forms,
    "AveragePool": same(IMAGE, kernel_shape=[2, 2]),
    "BatchNormalization": same(IMAGE, V([1, 2]), V([1, 0]), V([1, 0]), V([1, 2])),
    "Bernoulli": same(X, dtypes={"T2": "dtype"}, is_open=True),
    "BitCast": same(X, dtypes={"T2": "to"}, answer=bits_again),
    "BitShift": lambda version: [F(X, V([[1, 2, 0]]), direction="LEFT"), F(X, V([[1, 2, 0]]), direction="RIGHT")],
    "BlackmanWindow": same(V(5), dtypes={"T2": "output_datatype"}),
    "HammingWindow": same(V(5), dtypes={"T2": "output_datatype"}),
    "HannWindow": same(V(5), dtypes={"T2": "output_datatype"}),
    "Cast": same(X, dtypes={"T2": "to"}),
    "CastLike": same(X, (1,)),
    "CausalConvWithState": same((1, 2, 4), (2, 1, 3), outputs=2),
    "CenterCropPad": same((4, 3), ints(2, 5)),
    "Clip": clip_forms,
    "Col2Im": same((1, 4, 4), ints(3, 3), ints(2, 2)),
    "Compress": same((3, 2), V([1, 0, 1]), axis=0),
    "Concat": same(X, X, axis=1),
    "ConcatFromSequence": same(Seq([X, X]), axis=1),
    "ConstantOfShape": same(ints(2, 3), value=constant("T2", (1,))),
    "Constant": same(value=constant("T", X)),
    "Conv": same(IMAGE, (2, 2, 3, 3), (2,), pads=[1, 1, 1, 1]),
    "ConvInteger": lambda version: [F(IMAGE, (2, 2, 3, 3)), F(IMAGE, (2, 2, 3, 3), V(1), V(1))],
    "ConvTranspose": same((1, 2, 3, 3), (2, 1, 2, 2), strides=[2, 2]),
    "CumProd": same(X, V(1)),
    "CumSum": same(X, V(1)),
    "DFT": lambda version: [F((1, 4, 2), axis=1)] if version < 20 else [F((1, 4, 2), None, V(1))],
    "DeformConv": same((1, 1, 3, 3), (1, 1, 2, 2), (1, 8, 2, 2)),
    "DepthToSpace": same((1, 4, 2, 2), blocksize=2),
    "DequantizeLinear": dequantize_forms,
    "Det": same(V([[1, 2], [3, 1]])),
    "Div": same(X, V([[1, 2, 1]])),
    "Dropout": same(X, outputs=2),
    "DynamicQuantizeLinear": same(X, outputs=3),
    "Einsum": same(X, (3, 2), equation="ij,jk->ik"),
    "Expand": same((2, 1), ints(2, 3)),
    "EyeLike": lambda version: [F(X), F(X, dtypes={"T2": "dtype"})],
    "GRU": recurrent(3),
    "LSTM": recurrent(4),
    "RNN": recurrent(1),
    "Gather": same((3, 2), V([2, 0])),
    "GatherElements": same((3, 2), V([[2, 0]])),
    "GatherND": same((3, 2), V([[2], [0]])),
    "Gelu": lambda version: [F(X), F(X, approximate="tanh")],
    "Gemm": lambda version: [F(X, (3, 2), (2,))] + ([F(X, (3, 2))] if version >= 11 else []),
    "GridSample": lambda version: [F((1, 1, 4, 4), GRID), F((1, 1, 4, 4), GRID, mode="nearest")],
    "GroupNormalization": lambda version: [F((2, 4, 3), (4,), (4,), num_groups=2)] if version >= 21 else [F((2, 4, 3), (2,), (2,), num_groups=2)],
    "If": same(V(1), blocks=if_blocks, fits=can_be_made),
    "InstanceNormalization": same((2, 2, 4), (2,), (2,)),
    "LRN": same((1, 3, 2, 2), size=3),
    "LayerNormalization": same((2, 4), (4,), (4,)),
    "LinearAttention": same((1, 3, 4), (1, 3, 4), (1, 3, 4), q_num_heads=2, kv_num_heads=2, update_rule="linear", outputs=2),
    "Log": same(V([[1, 2, 4]])),
    "LpPool": same(IMAGE, kernel_shape=[2, 2]),
    "LpNormalization": same((2, 4)),
    "MatMul": same(X, (3, 2)),
    "MatMulInteger": lambda version: [F(X, (3, 2)), F(X, (3, 2), V(1), V(1))],
    "Max": same(X, (3,), X),
    "Min": same(X, (3,), X),
    "MaxPool": same(V([[[[3, 1, 2, 0], [0, 5, 4, 1], [2, 3, 1, 0]]]]), kernel_shape=[2, 2]),
    "MaxRoiPool": same((1, 1, 4, 4), V([[0, 0, 0, 2, 2]]), pooled_shape=[2, 2]),
    "MaxUnpool": same((1, 1, 2, 2), V([[[[0, 3], [8, 10]]]]), kernel_shape=[2, 2], strides=[2, 2]),
    "Mean": same(X, X),
    "MeanVarianceNormalization": same((2, 2, 2, 3)),
    "MelWeightMatrix": same(V(4), V(16), V(8), V(0), V(4), dtypes={"T3": "output_datatype"}),
    "Mod": lambda version: [F(X, V([[2, 3, 1]]), fmod=1)],
    "Multinomial": same(V([[0.5, 0.5]]), sample_size=3, dtypes={"T2": "dtype"}, is_open=True),
    "NegativeLogLikelihoodLoss": same((3, 4), V([1, 0, 3])),
    "NonMaxSuppression": same(V([[[0, 0, 1, 1], [0, 2, 1, 3]]]), V([[[0.5, 0.75]]]), V(2), V(0.5), V(0.25)),
    "Not": same(X),
    "OneHot": same(V([0, 2]), V(3), V([0, 1]), answer=lambda node, values: [np.array([[1, 0, 0], [0, 0, 1]])]),
    "Optional": same(X),
    "OptionalGetElement": same(Seq([X])),
    "OptionalHasElement": same(Seq([X])),
    "Or": same(X, X),
    "Xor": same(X, X),
    "PRelu": same(X, (3,)),
    "Pad": pad_forms,
    "Pow": same(X, V([[2, 1, 0]])),
    "QLinearConv": same(IMAGE, V(0.5), V(1), (2, 2, 3, 3), V(0.5), V(1), V(0.5), V(1)),
    "QLinearMatMul": same(X, V(0.5), V(0), (3, 2), V(0.5), V(0), V(0.5), V(0)),
    "QuantizeLinear": quantize_forms,
    "RMSNormalization": same((2, 4), (4,)),
    "RandomNormal": same(shape=[2, 3], dtypes={"T": "dtype"}, is_open=True),
    "RandomUniform": same(shape=[2, 3], dtypes={"T": "dtype"}, is_open=True),
    "RandomNormalLike": same(X, dtypes={"T2": "dtype"}, is_open=True),
    "RandomUniformLike": same(X, dtypes={"T2": "dtype"}, is_open=True),
    "Range": same(V(0), V(6), V(2)),
    "Reciprocal": same(V([[1, 2, 4]])),
    "ReduceSum": reduction(13),
    **{name: reduction(18) for name in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean", "ReduceMin",
                                        "ReduceProd", "ReduceSumSquare")},
    # Over no axes the package's log(exp(2)) is a little below 2, and 1 as an integer.
    "ReduceLogSumExp": reduction(18, of_nothing=False),
    "Reshape": lambda version: [F(X, ints(3, -1))],
    "Resize": resize_forms,
    "ReverseSequence": same((3, 2), ints(2, 3)),
    "RoiAlign": same((1, 1, 4, 4), V([[0, 0, 3, 3]]), V([0]), output_height=2, output_width=2, sampling_ratio=2),
    "RotaryEmbedding": same((1, 2, 3, 4), (4, 2), (4, 2), V([[0, 2, 1]])),
    "STFT": same((1, 8, 1), V(2), None, V(4)),
    "Scan": scan_forms,
    "Loop": same(V(2), V(1), X, blocks=loop_blocks),
    "SequenceMap": same(Seq([X, X]), blocks=map_blocks),
    "Scatter": lambda version: [F((3, 3), V([[1, 0, 2]]), (1, 3))],
    "ScatterElements": scatter_forms,
    "ScatterND": scatter_nd_forms,
    "SequenceAt": same(Seq([X, X]), V(1)),
    "SequenceConstruct": same(X, X),
    "SequenceEmpty": same(dtype=number_of("S")),
    "SequenceErase": same(Seq([X, X]), V(0)),
    "SequenceInsert": same(Seq([X]), X, V(0)),
    "SequenceLength": same(Seq([X, X])),
    "Shape": lambda version: [F(X)] + ([F(X, start=1)] if version >= 15 else []),
    "Slice": slice_forms,
    "SoftmaxCrossEntropyLoss": same((3, 4), V([1, 0, 3])),
    "SpaceToDepth": same((1, 1, 4, 4), blocksize=2),
    "Split": split_forms,
    "SplitToSequence": lambda version: [F((4, 3), V([1, 3])), F((4, 3))],
    "Squeeze": axes_form(13, (2, 1, 3), (1,)),
    "Unsqueeze": axes_form(13, X, (1,)),
    "Sum": same(X, (3,)),
    "SwiGLU": same(X, X),
    "TensorScatter": same((1, 4, 2), (1, 1, 2), ints(2)),
    "TfIdfVectorizer": same(V([[1, 2, 1]]), mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0],
                            ngram_indexes=[0, 1], pool_int64s=[1, 2]),
    "Tile": same(X, ints(1, 2)),
    "TopK": topk_forms,
    "Trilu": lambda version: [F((3, 3)), F((3, 3), V(1), upper=0)],
    "Unique": lambda version: [F(V([2, 1, 1, 3]), outputs=4)],
    "Upsample": lambda version: [F((1, 1, 2, 2), V([1, 1, 2, 2]))] if version >= 9 else [F((1, 1, 2, 2), scales=[1.0, 1.0, 2.0, 2.0])],
    "Where": same(X, X, X),
    "GlobalAveragePool": same(IMAGE),
    "GlobalLpPool": same(IMAGE),
    "GlobalMaxPool": same(IMAGE),
}


def forms_of(name, version, input_count):
    """The forms of one version; operators without an entry take tensors of one shape."""
    return FORMS[name](version) if name in FORMS else [F(*[X] * input_count)]
