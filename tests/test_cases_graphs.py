# SPDX-License-Identifier: Apache-2.0
"""Graphs of several nodes known from public reports: products with odd additions, control flow, recurrent networks, tensors without
elements, and graphs that are wrong. By the reference, by an engine of level 0, and by one of reference kernels only; with fixed and
with dynamic sizes."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from case_server import RotaError, model_of, one_node
from case_values import assert_close, dtypes, is_float, values

MODES = ["reference", "engine", "generic"]
node = helper.make_node
F32, I64 = np.float32, np.int64


def ranges_of(inputs, slack=3):
    return {name: [(min(1, n), n, n + slack) for n in value.shape] for name, value in inputs.items() if np.ndim(value)}


def check(server, nodes, inputs, wants, constants=None, opset=13, dynamic=(False, True), shapes=None, **tolerance):
    """`inputs` and `wants`: name to array. Dynamic: every dim of an input has a name of its own, or `shapes` gives the dims."""
    for is_dynamic in dynamic:
        dims = {name: [f"{name}_{d}" for d in range(np.ndim(v))] if is_dynamic else np.shape(v) for name, v in inputs.items()}
        if is_dynamic:
            dims.update(shapes or {})
        model = model_of(nodes, {name: (np.asarray(v).dtype, dims[name]) for name, v in inputs.items()}, list(wants), opset, constants or {})
        ranges = ranges_of({n: np.asarray(v) for n, v in inputs.items()}) if is_dynamic else None
        for name, given in (shapes or {}).items():
            if ranges is not None:
                ranges[name] = [(n, n, n) if isinstance(n, int) else r for n, r in zip(given, ranges[name])]
        for mode in MODES:
            got = server.run(model, [list(inputs.values())], mode, ranges)[0]
            for (name, want), value in zip(wants.items(), got):
                assert_close(value, np.asarray(want), **tolerance, what=f"{name}, {mode}, {'dynamic' if is_dynamic else 'fixed'}")


def graph(name, nodes, inputs, outputs, constants=()):
    """A body. Inputs: (name, numpy type, dims)."""
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), d) for n, t, d in inputs]
    return helper.make_graph(nodes, name, infos, [ValueInfoProto(name=n) for n in outputs], [numpy_helper.from_array(np.asarray(v), n) for n, v in dict(constants).items()])


# --- C13: MatMul plus Add is not always Gemm.

PRODUCT_TYPES = dtypes("MatMul", opset=13)


@pytest.mark.parametrize("dtype", PRODUCT_TYPES, ids=str)
def test_matmul_plus_add_that_widens(case_server, dtype):
    ten = np.array(10, dtype)
    nodes = [node("MatMul", ["a", "b"], ["p"]), node("Mul", ["ten", "c"], ["t"]), node("Add", ["p", "t"], ["y"])]
    inputs = {"a": np.eye(3, dtype=dtype), "b": np.array([[1], [2], [3]], dtype), "c": np.array([[0, 1, 2, 3]], dtype)}
    want = np.array([[i + 1 + 10 * j for j in range(4)] for i in range(3)]).astype(dtype)
    check(case_server, nodes, inputs, {"y": want}, {"ten": ten})
    check(case_server, nodes, inputs, {"y": want, "p": inputs["b"]}, {"ten": ten})  # the product is a result too


@pytest.mark.parametrize("bias", [(), (1,), (4,), (3, 1), (1, 4), (3, 4), (2, 3, 4), (2, 1, 1)], ids=str)
@pytest.mark.parametrize("ranks", ["2x2", "3x2", "3x3", "1x2", "2x1", "1x1"])
def test_matmul_plus_bias_of_any_shape(case_server, bias, ranks):
    left = {"1": (5,), "2": (3, 5), "3": (2, 3, 5)}[ranks[0]]
    right = {"1": (5,), "2": (5, 4), "3": (2, 5, 4)}[ranks[2]]
    a, b, c = (values(F32, shape, i, specials=False) for i, shape in enumerate((left, right, bias)))
    product = np.matmul(a, b)
    try:
        want = product + c
    except ValueError:
        return  # shapes that do not broadcast
    nodes = [node("MatMul", ["a", "b"], ["p"]), node("Add", ["c", "p"], ["y"])]
    check(case_server, nodes, {"a": a}, {"y": want}, {"b": b, "c": c}, rtol=1e-5, atol=1e-4)
    check(case_server, nodes, {"a": a, "c": c}, {"y": want}, {"b": b}, rtol=1e-5, atol=1e-4)
    check(case_server, [*nodes, node("Relu", ["y"], ["z"])], {"a": a, "b": b, "c": c}, {"y": want, "z": np.maximum(want, 0), "p": product}, rtol=1e-5, atol=1e-4)


def test_a_product_used_twice(case_server):
    a, b = values(F32, (3, 4), 1, specials=False), values(F32, (4, 3), 2, specials=False)
    p = a @ b
    nodes = [node("MatMul", ["a", "b"], ["p"]), node("Add", ["p", "p"], ["s"]), node("MatMul", ["s", "p"], ["q"]), node("Relu", ["p"], ["r"]), node("Sub", ["q", "r"], ["y"])]
    check(case_server, nodes, {"a": a}, {"y": (2 * p) @ p - np.maximum(p, 0)}, {"b": b}, rtol=1e-4, atol=1e-3)


# --- C15: NonZero, tensors without elements, Reshape with zeros.

@pytest.mark.parametrize("dtype", dtypes("NonZero", opset=13), ids=str)
@pytest.mark.parametrize("hits", ["none", "one", "all"])
def test_non_zero_of_a_fixed_shape(case_server, dtype, hits):
    x = np.zeros((100, 64), dtype)
    if hits == "one":
        x[97, 3] = 1
    if hits == "all":
        x[:] = 1
    places = np.array(np.nonzero(x), I64)
    nodes = [node("NonZero", ["x"], ["p"]), node("Transpose", ["p"], ["t"], perm=[1, 0]), node("Reshape", ["t", "flat"], ["r"]), node("Gather", ["t", "first"], ["g"], axis=1)]
    wants = {"p": places, "t": places.T, "r": places.T.reshape(-1), "g": places.T[:, [0]]}
    check(case_server, nodes, {"x": x}, wants, {"flat": np.array([-1], I64), "first": np.array([0], I64)}, dynamic=(False,))


def test_concat_with_nothing(case_server):
    for dtype in dtypes("Concat", opset=13):
        y = values(dtype, (3, 4), 1, specials=False)
        model = model_of([node("Concat", ["x", "y"], ["z"], axis=0)], {"x": (dtype, ["n", 4]), "y": (dtype, [3, 4])}, ["z"], 13)
        sets = [[values(dtype, (n, 4), n, specials=False), y] for n in (0, 8, 1, 0)]
        for mode in MODES:
            for (x, _), (z,) in zip(sets, case_server.run(model, sets, mode, {"x": [(0, 4, 8), (4, 4, 4)], "y": [(3, 3, 3), (4, 4, 4)]})):
                assert_close(z, np.concatenate([x, y]), what=f"{dtype} {mode}")


def test_reshape_with_zeros(case_server):
    nodes = [node("Reshape", ["x", "a"], ["y"], allowzero=1), node("Reshape", ["y", "b"], ["z"], allowzero=1)]
    empty = np.zeros((0, 8, 2), F32)
    check(case_server, nodes, {"x": empty}, {"y": np.zeros((4, 2, 0), F32), "z": np.zeros((0, 0, 4), F32)}, {"a": np.array([4, 2, 0], I64), "b": np.array([0, 0, 4], I64)}, opset=18)
    check(case_server, [node("Reshape", ["x", "a"], ["y"])], {"x": empty}, {"y": np.zeros((4, 2, 0), F32)}, {"a": np.array([4, 2, -1], I64)}, opset=18)
    x = np.arange(16, dtype=F32)
    check(case_server, [node("Reshape", ["x", "a"], ["y"], allowzero=1)], {"x": x}, {"y": x.reshape(2, 2, 4)}, {"a": np.array([-1, 2, 4], I64)}, opset=18)
    for mode in MODES:
        with pytest.raises(RotaError, match="reshaper"):
            model = model_of([node("Reshape", ["x", "a"], ["y"], name="reshaper", allowzero=1)], {"x": (F32, (0, 8))}, ["y"], 18, {"a": np.array([-1, 0], I64)})
            case_server.run(model, [[np.zeros((0, 8), F32)]], mode)


Z = np.zeros
EMPTY = {  # operator: (inputs, attributes, shapes of the outputs)
    **{name: ([Z((2, 0, 3), F32)], {}, [(2, 0, 3)]) for name in (
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax Identity IsInf IsNaN LeakyRelu Log LogSoftmax Mish Neg "
        "Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu").split()},
    **{name: ([Z((2, 0, 3), F32), Z((3,), F32)], {}, [(2, 0, 3)]) for name in "Add Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mul Pow PRelu Sub Sum".split()},
    **{name: ([Z((2, 0), bool), Z((2, 1), bool)], {}, [(2, 0)]) for name in "And Or Xor".split()},
    **{name: ([Z((2, 0), np.uint8), Z((1,), np.uint8)], {}, [(2, 0)]) for name in "BitwiseAnd BitwiseOr BitwiseXor".split()},
    **{name: ([Z((2, 0, 3), F32), np.array([0], I64)], {}, [(1, 0, 3)]) for name in (
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare").split()},
    "ArgMax": ([Z((2, 0), F32)], {"axis": 0}, [(1, 0)]), "ArgMin": ([Z((2, 0), F32)], {"axis": 0}, [(1, 0)]),
    "AveragePool": ([Z((0, 2, 4, 4), F32)], {"kernel_shape": [2, 2]}, [(0, 2, 3, 3)]), "MaxPool": ([Z((0, 2, 4, 4), F32)], {"kernel_shape": [2, 2]}, [(0, 2, 3, 3), (0, 2, 3, 3)]),
    "LpPool": ([Z((0, 2, 4, 4), F32)], {"kernel_shape": [2, 2]}, [(0, 2, 3, 3)]), "GlobalAveragePool": ([Z((0, 2, 4, 4), F32)], {}, [(0, 2, 1, 1)]),
    "GlobalMaxPool": ([Z((0, 2, 4, 4), F32)], {}, [(0, 2, 1, 1)]), "GlobalLpPool": ([Z((0, 2, 4, 4), F32)], {}, [(0, 2, 1, 1)]),
    "BatchNormalization": ([Z((0, 2, 4), F32), *[np.ones(2, F32)] * 4], {}, [(0, 2, 4)]), "BitShift": ([Z((0, 2), np.uint8), np.ones(2, np.uint8)], {"direction": "LEFT"}, [(0, 2)]),
    "BitwiseNot": ([Z((0, 2), np.uint8)], {}, [(0, 2)]), "Not": ([Z((0, 2), bool)], {}, [(0, 2)]), "Cast": ([Z((0, 2), F32)], {"to": TensorProto.INT64}, [(0, 2)]),
    "CastLike": ([Z((0, 2), F32), Z((1,), np.int8)], {}, [(0, 2)]), "BitCast": ([Z((0, 2), F32)], {"to": TensorProto.INT32}, [(0, 2)]),
    "CenterCropPad": ([Z((0, 4), F32), np.array([3], I64)], {"axes": [1]}, [(0, 3)]), "Clip": ([Z((0, 2), F32), F32(0), F32(1)], {}, [(0, 2)]),
    "Col2Im": ([Z((0, 5, 5), F32), np.array([5, 5], I64), np.array([1, 5], I64)], {}, [(0, 1, 5, 5)]), "Compress": ([Z((0, 2), F32), Z((0,), bool)], {"axis": 0}, [(0, 2)]),
    "Concat": ([Z((0, 2), F32), Z((0, 2), F32)], {"axis": 0}, [(0, 2)]), "ConstantOfShape": ([np.array([2, 0], I64)], {}, [(2, 0)]),
    "Conv": ([Z((0, 2, 4, 4), F32), np.ones((3, 2, 3, 3), F32)], {}, [(0, 3, 2, 2)]), "ConvInteger": ([Z((0, 2, 4, 4), np.uint8), np.ones((3, 2, 3, 3), np.uint8)], {}, [(0, 3, 2, 2)]),
    "ConvTranspose": ([Z((0, 2, 4, 4), F32), np.ones((2, 3, 3, 3), F32)], {}, [(0, 3, 6, 6)]), "CumSum": ([Z((0, 2), F32), np.array(0, I64)], {}, [(0, 2)]),
    "CumProd": ([Z((0, 2), F32), np.array(0, I64)], {}, [(0, 2)]), "DFT": ([Z((0, 5, 1), F32), None, np.array(1, I64)], {}, [(0, 5, 2)]),
    "DeformConv": ([Z((0, 1, 3, 3), F32), np.ones((1, 1, 2, 2), F32), Z((0, 8, 2, 2), F32)], {"kernel_shape": [2, 2]}, [(0, 1, 2, 2)]),
    "DepthToSpace": ([Z((0, 4, 2, 2), F32)], {"blocksize": 2}, [(0, 1, 4, 4)]), "SpaceToDepth": ([Z((0, 1, 4, 4), F32)], {"blocksize": 2}, [(0, 4, 2, 2)]),
    "DequantizeLinear": ([Z((0, 2), np.uint8), F32(1), np.uint8(0)], {}, [(0, 2)]), "QuantizeLinear": ([Z((0, 2), F32), F32(1), np.uint8(0)], {}, [(0, 2)]),
    "Det": ([Z((0, 3, 3), F32)], {}, [(0,)]), "Dropout": ([Z((0, 2), F32)], {}, [(0, 2), (0, 2)]), "Einsum": ([Z((2, 0), F32), Z((0, 3), F32)], {"equation": "ij,jk->ik"}, [(2, 3)]),
    "Expand": ([Z((1, 0), F32), np.array([3, 1], I64)], {}, [(3, 0)]), "EyeLike": ([Z((0, 3), F32)], {}, [(0, 3)]), "Flatten": ([Z((2, 0, 3), F32)], {"axis": 2}, [(0, 3)]),
    "Gather": ([Z((2, 0), F32), Z((3,), I64)], {}, [(3, 0)]), "GatherElements": ([Z((2, 3), F32), Z((0, 3), I64)], {}, [(0, 3)]), "GatherND": ([Z((2, 3), F32), Z((0, 1), I64)], {}, [(0, 3)]),
    "Gemm": ([Z((2, 0), F32), Z((0, 3), F32), np.ones(3, F32)], {}, [(2, 3)]), "MatMul": ([Z((2, 0), F32), Z((0, 3), F32)], {}, [(2, 3)]),
    "MatMulInteger": ([Z((2, 0), np.uint8), Z((0, 3), np.int8)], {}, [(2, 3)]), "GridSample": ([Z((0, 1, 3, 3), F32), Z((0, 2, 2, 2), F32)], {}, [(0, 1, 2, 2)]),
    "QLinearMatMul": ([Z((0, 4), np.uint8), F32(1), np.uint8(0), Z((4, 3), np.uint8), F32(1), np.uint8(0), F32(1), np.uint8(0)], {}, [(0, 3)]),
    "QLinearConv": ([Z((0, 2, 4, 4), np.uint8), F32(1), np.uint8(0), np.ones((3, 2, 3, 3), np.uint8), F32(1), np.uint8(0), F32(1), np.uint8(0)], {}, [(0, 3, 2, 2)]),
    "GroupNormalization": ([Z((0, 4, 2), F32), np.ones(4, F32), Z(4, F32)], {"num_groups": 2}, [(0, 4, 2)]), "InstanceNormalization": ([Z((0, 4, 2), F32), np.ones(4, F32), Z(4, F32)], {}, [(0, 4, 2)]),
    "LayerNormalization": ([Z((0, 4), F32), np.ones(4, F32)], {}, [(0, 4)]), "RMSNormalization": ([Z((0, 4), F32), np.ones(4, F32)], {}, [(0, 4)]),
    "LpNormalization": ([Z((0, 4), F32)], {}, [(0, 4)]), "LRN": ([Z((0, 4, 2), F32)], {"size": 3}, [(0, 4, 2)]), "MeanVarianceNormalization": ([Z((0, 4, 2, 2), F32)], {}, [(0, 4, 2, 2)]),
    "GRU": ([Z((0, 2, 3), F32), np.ones((1, 12, 3), F32), np.ones((1, 12, 4), F32)], {"hidden_size": 4}, [(0, 1, 2, 4), (1, 2, 4)]),
    "LSTM": ([Z((0, 2, 3), F32), np.ones((1, 16, 3), F32), np.ones((1, 16, 4), F32)], {"hidden_size": 4}, [(0, 1, 2, 4), (1, 2, 4), (1, 2, 4)]),
    "RNN": ([Z((3, 0, 3), F32), np.ones((1, 4, 3), F32), np.ones((1, 4, 4), F32)], {"hidden_size": 4}, [(3, 1, 0, 4), (1, 0, 4)]),
    "MaxUnpool": ([Z((0, 1, 2, 2), F32), Z((0, 1, 2, 2), I64)], {"kernel_shape": [2, 2], "strides": [2, 2]}, [(0, 1, 4, 4)]), "Mod": ([Z((0, 2), np.int32), np.ones(2, np.int32)], {}, [(0, 2)]),
    "MaxRoiPool": ([np.ones((1, 1, 4, 4), F32), Z((0, 5), F32)], {"pooled_shape": [2, 2]}, [(0, 1, 2, 2)]), "RoiAlign": ([np.ones((1, 1, 4, 4), F32), Z((0, 4), F32), Z((0,), I64)], {"output_height": 2, "output_width": 2}, [(0, 1, 2, 2)]),
    "NegativeLogLikelihoodLoss": ([Z((0, 3), F32), Z((0,), I64)], {"reduction": "none"}, [(0,)]), "SoftmaxCrossEntropyLoss": ([Z((0, 3), F32), Z((0,), I64)], {"reduction": "none"}, [(0,)]),
    "NonMaxSuppression": ([Z((1, 0, 4), F32), Z((1, 2, 0), F32), np.array(3, I64)], {}, [(0, 3)]), "NonZero": ([Z((0, 2), F32)], {}, [(2, 0)]), "OneHot": ([Z((0,), I64), np.array(3, I64), Z(2, F32)], {}, [(0, 3)]),
    "Pad": ([Z((2, 0), F32), np.array([0, 1, 0, 2], I64)], {}, [(2, 3)]), "Range": ([np.array(3, I64), np.array(3, I64), np.array(1, I64)], {}, [(0,)]), "Reshape": ([Z((2, 0), F32), np.array([0, -1], I64)], {}, [(2, 0)]),
    "Resize": ([Z((0, 1, 2, 2), F32), None, np.array([1, 1, 2, 2], F32)], {}, [(0, 1, 4, 4)]), "ReverseSequence": ([Z((3, 0), F32), Z((0,), I64)], {}, [(3, 0)]),
    "RotaryEmbedding": ([Z((0, 2, 3, 4), F32), Z((0, 3, 2), F32), Z((0, 3, 2), F32)], {}, [(0, 2, 3, 4)]), "Attention": ([Z((0, 2, 3, 4), F32), Z((0, 2, 5, 4), F32), Z((0, 2, 5, 4), F32)], {}, [(0, 2, 3, 4)]),
    "ScatterElements": ([Z((2, 3), F32), Z((0, 3), I64), Z((0, 3), F32)], {}, [(2, 3)]), "ScatterND": ([Z((2, 3), F32), Z((0, 1), I64), Z((0, 3), F32)], {}, [(2, 3)]),
    "Shape": ([Z((2, 0), F32)], {}, [(2,)]), "Size": ([Z((2, 0), F32)], {}, [()]), "Slice": ([Z((2, 0), F32), np.array([0], I64), np.array([5], I64), np.array([1], I64)], {}, [(2, 0)]),
    "Split": ([Z((2, 0), F32)], {"axis": 0, "num_outputs": 2}, [(1, 0), (1, 0)]), "Squeeze": ([Z((1, 0), F32), np.array([0], I64)], {}, [(0,)]), "Unsqueeze": ([Z((0,), F32), np.array([0], I64)], {}, [(1, 0)]),
    "STFT": ([Z((0, 8, 1), F32), np.array(2, I64), None, np.array(4, I64)], {}, [(0, 3, 3, 2)]), "SwiGLU": ([Z((0, 4), F32), Z((0, 4), F32)], {}, [(0, 4)]), "Tile": ([Z((2, 0), F32), np.array([2, 3], I64)], {}, [(4, 0)]),
    "TensorScatter": ([Z((0, 4, 2), F32), Z((0, 1, 2), F32), Z((0,), I64)], {}, [(0, 4, 2)]), "TopK": ([Z((0, 4), F32), np.array([2], I64)], {}, [(0, 2), (0, 2)]),
    "Transpose": ([Z((2, 0, 3), F32)], {}, [(3, 0, 2)]), "Trilu": ([Z((2, 0), F32)], {}, [(2, 0)]), "Unique": ([Z((0,), F32)], {}, [(0,), (0,), (0,), (0,)]),
    "Where": ([Z((2, 1), bool), Z((2, 0), F32), Z((1,), F32)], {}, [(2, 0)]), "AffineGrid": ([Z((0, 2, 3), F32), np.array([0, 1, 2, 2], I64)], {}, [(0, 2, 2, 2)]),
    "DynamicQuantizeLinear": ([Z((0, 2), F32)], {}, [(0, 2), (), ()]), "Bernoulli": ([Z((0, 2), F32)], {}, [(0, 2)]), "RandomUniformLike": ([Z((0, 2), F32)], {}, [(0, 2)]),
}


@pytest.mark.parametrize("operator", EMPTY)
def test_an_axis_of_size_zero(case_server, operator):
    """Every operator once with a tensor that has no elements; what has elements all the same is what a sum over nothing gives."""
    inputs, attributes, shapes = EMPTY[operator]
    fixed = {i for i, v in enumerate(inputs) if v is not None and np.asarray(v).dtype == I64 and np.size(v)}
    for dynamic in (False, True):
        results = []
        for mode in MODES:
            model, given, ranges = one_node(operator, inputs, attributes, outputs=len(shapes), fixed=fixed, dynamic=dynamic)
            got = case_server.run(model, [given], mode, ranges)[0]
            assert [g.shape for g in got] == shapes, f"{mode} dynamic={dynamic}"
            results.append(got)
        for other in results[1:]:
            for a, b in zip(results[0], other):
                assert_close(b, a, what=operator)


def test_products_over_nothing_are_zero(case_server):
    for dtype in dtypes("MatMul", opset=13):
        check(case_server, [node("MatMul", ["a", "b"], ["y"])], {"a": Z((2, 0), dtype), "b": Z((0, 3), dtype)}, {"y": Z((2, 3), dtype)})
        check(case_server, [node("Gemm", ["a", "b", "c"], ["y"])], {"a": Z((2, 0), dtype), "b": Z((0, 3), dtype), "c": np.ones(3, dtype)}, {"y": np.ones((2, 3), dtype)})


# --- C17: If with branches of different rank, and equal names inside.

def squeeze_if(shape):
    then = graph("then", [node("Squeeze", ["x", "one"], ["out"])], [], ["out"])
    other = graph("else", [node("Identity", ["x"], ["out"])], [], ["out"])
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "at"], ["c"]), node("Equal", ["c", "unit"], ["cond"]), node("If", ["cond"], ["y"], then_branch=then, else_branch=other)]
    constants = {"one": np.array([1], I64), "at": np.array(1, I64), "unit": np.array(1, I64)}
    return model_of(nodes, {"x": (F32, shape)}, ["y"], 13, constants)


@pytest.mark.parametrize("mode", MODES)
def test_if_branches_of_different_rank(case_server, mode):
    for shape, channels in (((4, 1), [1]), ((4, 5), [5]), (("n", 1), [1]), (("n", 5), [5]), (("n", "c"), [1, 5, 1, 2])):
        sets = [[values(F32, (4, c), c, specials=False)] for c in channels]
        ranges = {"x": [(1, 4, 8), (1, channels[0], 8) if shape[1] == "c" else (channels[0],) * 3]} if isinstance(shape[0], str) else None
        for (x,), (y,) in zip(sets, case_server.run(squeeze_if(shape), sets, mode, ranges)):
            assert_close(y, x[:, 0] if x.shape[1] == 1 else x, what=f"{shape} {x.shape}")


def test_if_with_a_known_condition_is_gone_from_the_plan(rota, tmp_path):
    onnx.save(squeeze_if((4, 5)), tmp_path / "m.onnx")
    rota("build", "m.onnx", "-o", "m.rota", "--level", "0")
    assert "(If)" not in rota("inspect", "m.rota", "--json").stdout


@pytest.mark.parametrize("mode", MODES)
def test_if_branches_with_equal_names(case_server, mode):
    then = graph("then", [node("Mul", ["x", "k"], ["t"], name="inner"), node("Add", ["t", "x"], ["u"]), node("Relu", ["u"], ["out"])], [], ["out"], {"k": F32(2)})
    other = graph("else", [node("Neg", ["x"], ["t"], name="inner"), node("Identity", ["t"], ["out"])], [], ["out"])
    model = model_of([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], {"c": (bool, ()), "x": (F32, (3,))}, ["y"], 13)
    x = np.array([1, -2, 3], F32)
    for (y,), want in zip(case_server.run(model, [[np.array(True), x], [np.array(False), x]], mode), (np.maximum(3 * x, 0), -x)):
        assert_close(y, want)


@pytest.mark.parametrize("mode", MODES)
def test_if_whose_shape_depends_on_the_condition(case_server, mode):
    then, other = graph("then", [node("Identity", ["two"], ["a"])], [], ["a"]), graph("else", [node("Identity", ["single"], ["a"])], [], ["a"])
    model = model_of([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], {"c": (bool, ())}, ["y"], 13, {"two": np.array([1, 2], F32), "single": np.array([3], F32)})
    for (y,), want in zip(case_server.run(model, [[np.array(True)], [np.array(False)], [np.array(True)]], mode), ([1, 2], [3], [1, 2])):
        assert_close(y, np.array(want, F32))


@pytest.mark.parametrize("mode", MODES)
def test_if_without_nodes_nested_and_unused(case_server, mode):
    """A branch that only passes an outer value on; an If in an If; a second output that nobody reads."""
    nothing = graph("nothing", [], [], ["x", "x"])
    deep = graph("deep", [node("Neg", ["x"], ["n"]), node("Abs", ["x"], ["m"])], [], ["n", "m"])
    inner = graph("inner", [node("If", ["d"], ["p", "q"], then_branch=nothing, else_branch=deep)], [], ["p", "q"])
    plain = graph("plain", [node("Add", ["x", "x"], ["s"]), node("Exp", ["x"], ["e"])], [], ["s", "e"])
    model = model_of([node("If", ["c"], ["y", "unused"], then_branch=inner, else_branch=plain)], {"c": (bool, ()), "d": (bool, ()), "x": (F32, (2,))}, ["y"], 16)
    x = np.array([1, -2], F32)
    sets = [[np.array(c), np.array(d), x] for c, d in ((True, True), (True, False), (False, True))]
    for (y,), want in zip(case_server.run(model, sets, mode), (x, -x, 2 * x)):
        assert_close(y, want)


# --- C19: Loop and Scan.

def loop_body(nodes, inputs, outputs, constants=()):
    return graph("body", nodes, [("i", I64, ()), ("keep", bool, ()), *inputs], outputs, constants)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loop_while(case_server, mode, dtype):
    body = loop_body([node("Add", ["a", "one"], ["a1"]), node("Add", ["n", "step"], ["n1"]), node("ReduceSum", ["a1"], ["sum"], keepdims=0), node("Less", ["sum", "ten"], ["go"])],
                     [("a", dtype, (2,)), ("n", I64, ())], ["go", "a1", "n1"], {"one": np.array(1, dtype), "step": np.array(1, I64), "ten": np.array(10, dtype)})
    nodes = [node("ReduceSum", ["x"], ["s"], keepdims=0), node("Less", ["s", "limit"], ["first"]), node("Loop", ["", "first", "x", "zero"], ["y", "turns"], body=body)]
    model = model_of(nodes, {"x": (dtype, (2,))}, ["y", "turns"], 13, {"limit": np.array(10, dtype), "zero": np.array(0, I64)})
    (y, turns), (same, none) = case_server.run(model, [[np.array([2.2, 3.3], dtype)], [np.array([7, 3], dtype)]], mode)
    assert_close(y, np.array([5.2, 6.3], dtype), rtol=1e-6)
    assert turns == 3 and none == 0
    assert_close(same, np.array([7, 3], dtype))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("why", ["trip count 0", "condition false"])
def test_loop_of_no_turns(case_server, mode, why):
    body = loop_body([node("Identity", ["keep"], ["go"]), node("Add", ["a", "a"], ["b"]), node("Identity", ["b"], ["row"])], [("a", F32, (2,))], ["go", "b", "row"])
    model = model_of([node("Loop", ["trips", "cond", "x"], ["y", "rows"], body=body)], {"trips": (I64, ()), "cond": (bool, ()), "x": (F32, (2,))}, ["y", "rows"], 13)
    x = np.array([1, 2], F32)
    none = [np.array(0, I64), np.array(True), x] if why == "trip count 0" else [np.array(5, I64), np.array(False), x]
    (y, rows), (z, all_rows) = case_server.run(model, [none, [np.array(2, I64), np.array(True), x]], mode)
    assert_close(y, x)
    assert_close(rows, Z((0, 2), F32))
    assert_close(z, 4 * x)
    assert_close(all_rows, np.stack([2 * x, 4 * x]))


@pytest.mark.parametrize("mode", MODES)
def test_loop_emits_its_turns_and_hides_outer_names(case_server, mode):
    body = loop_body([node("Identity", ["keep"], ["go"]), node("Identity", ["i"], ["turn"]), node("Add", ["x", "step"], ["next"])], [("x", F32, (2,))], ["go", "next", "turn"], {"step": F32(1)})
    nodes = [node("Loop", ["trips", "", "start"], ["y", "turns"], body=body), node("Add", ["x", "y"], ["z"])]
    model = model_of(nodes, {"trips": (I64, ()), "start": (F32, (2,)), "x": (F32, (2,))}, ["y", "turns", "z"], 13)
    start, x = np.array([10, 20], F32), np.array([1000, 2000], F32)
    for trips, (y, turns, z) in zip((4, 0, 1), case_server.run(model, [[np.array(n, I64), start, x] for n in (4, 0, 1)], mode)):
        assert_close(y, start + F32(trips))
        assert_close(turns, np.arange(trips, dtype=I64))
        assert_close(z, start + F32(trips) + x)


@pytest.mark.parametrize("mode", MODES)
def test_loop_outputs_left_unnamed(case_server, mode):
    body = loop_body([node("Identity", ["keep"], ["go"]), node("Add", ["a", "a"], ["b"]), node("Neg", ["b"], ["row"])], [("a", F32, (2,))], ["go", "b", "row"])
    model = model_of([node("Loop", ["trips", "", "x"], ["", "rows"], body=body)], {"x": (F32, (2,))}, ["rows"], 13, {"trips": np.array(2, I64)})
    x = np.array([1, 2], F32)
    assert_close(case_server.run(model, [[x]], mode)[0][0], np.stack([-2 * x, -4 * x]))


@pytest.mark.parametrize("mode", MODES)
def test_loop_whose_carried_value_grows(case_server, mode):
    body = loop_body([node("Identity", ["keep"], ["go"]), node("Concat", ["a", "a"], ["b"], axis=0)], [("a", F32, ("n",))], ["go", "b"])
    model = model_of([node("Loop", ["trips", "", "x"], ["y"], body=body)], {"trips": (I64, ()), "x": (F32, (1,))}, ["y"], 13)
    for n, (y,) in zip((0, 3, 5), case_server.run(model, [[np.array(n, I64), np.array([7], F32)] for n in (0, 3, 5)], mode)):
        assert_close(y, np.full(2**n, 7, F32))


@pytest.mark.parametrize("mode", MODES)
def test_loop_in_if_in_loop_with_a_computed_condition(case_server, mode):
    """The inner loop runs i times on odd turns; the condition comes from the scan of the turn before."""
    deepest = loop_body([node("Identity", ["keep"], ["go"]), node("Add", ["v", "unit"], ["w"])], [("v", F32, ())], ["go", "w"], {"unit": F32(1)})
    odd = graph("odd", [node("Loop", ["k", "", "a"], ["r"], body=deepest)], [], ["r"])
    even = graph("even", [node("Mul", ["a", "two"], ["r"])], [], ["r"], {"two": F32(2)})
    body = graph("outer", [node("Mod", ["k", "pair"], ["bit"]), node("Cast", ["bit"], ["odd"], to=TensorProto.BOOL), node("If", ["odd"], ["b"], then_branch=odd, else_branch=even),
                           node("Less", ["b", "most"], ["go"]), node("Identity", ["b"], ["row"])],
                 [("k", I64, ()), ("keep", bool, ()), ("a", F32, ())], ["go", "b", "row"], {"pair": np.array(2, I64), "most": F32(20)})
    model = model_of([node("Loop", ["", "", "x"], ["y", "rows"], body=body)], {"x": (F32, ())}, ["y", "rows"], 13)
    for start, (y, rows) in zip((1, 3), case_server.run(model, [[F32(1)], [F32(3)]], mode)):
        want, a, k = [], F32(start), 0
        while True:
            a = a + F32(k) if k % 2 else a * F32(2)
            want.append(a)
            k += 1
            if not a < 20:
                break
        assert_close(y, np.array(a, F32))
        assert_close(rows, np.array(want, F32))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reverse", [0, 1])
def test_scan_in_reverse(case_server, mode, reverse):
    body = graph("body", [node("Add", ["s", "x"], ["t"]), node("Identity", ["t"], ["row"])], [("s", F32, (2,)), ("x", F32, (2,))], ["t", "row"])
    model = model_of([node("Scan", ["start", "rows"], ["end", "sums"], body=body, num_scan_inputs=1, scan_input_directions=[reverse], scan_output_directions=[reverse])],
                     {"start": (F32, (2,)), "rows": (F32, ("t", 2))}, ["end", "sums"], 13)
    for n in (1, 4):
        rows = values(F32, (n, 2), n, specials=False)
        end, sums = case_server.run(model, [[Z(2, F32), rows]], mode, {"rows": [(1, 3, 5), (2, 2, 2)], "start": [(2, 2, 2)]})[0]
        order = rows[::-1] if reverse else rows
        want = np.cumsum(order.astype(np.float64), axis=0)
        assert_close(sums, (want[::-1] if reverse else want).astype(F32), rtol=1e-5, atol=1e-6)
        assert_close(end, want[-1].astype(F32), rtol=1e-5, atol=1e-6)


# --- C21: LSTM and GRU as plain loops.

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {"Sigmoid": sigmoid, "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0)}


def lstm(x, w, r, b, lengths, h, c, p, clip, names, reverse):
    f, g, o = (ACTIVATIONS[n] for n in names)
    hidden, steps = r.shape[1], x.shape[0]
    y, ends = np.zeros((steps, x.shape[1], hidden)), []
    for n, length in enumerate(lengths):
        ht, ct = h[n].copy(), c[n].copy()
        for t in reversed(range(length)) if reverse else range(length):
            z = w @ x[t, n] + r @ ht + b[:4 * hidden] + b[4 * hidden:]
            i, out, forget, cell = np.split(z, 4)  # the order of ONNX: input, output, forget, cell
            bound = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
            i, forget = f(bound(i + p[:hidden] * ct)), f(bound(forget + p[2 * hidden:] * ct))
            ct = forget * ct + i * g(bound(cell))
            ht = f(bound(out + p[hidden:2 * hidden] * ct)) * o(bound(ct))
            y[t, n] = ht
        ends.append((ht, ct))
    return y, np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def gru(x, w, r, b, lengths, h, linear, clip, names, reverse):
    f, g = (ACTIVATIONS[n] for n in names)
    hidden, steps = r.shape[1], x.shape[0]
    wb, rb = b[:3 * hidden], b[3 * hidden:]
    y, ends = np.zeros((steps, x.shape[1], hidden)), []
    bound = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
    for n, length in enumerate(lengths):
        ht = h[n].copy()
        for t in reversed(range(length)) if reverse else range(length):
            wx = w @ x[t, n] + wb
            z = f(bound(wx[:hidden] + r[:hidden] @ ht + rb[:hidden]))
            reset = f(bound(wx[hidden:2 * hidden] + r[hidden:2 * hidden] @ ht + rb[hidden:2 * hidden]))
            if linear:
                new = reset * (r[2 * hidden:] @ ht + rb[2 * hidden:])
            else:
                new = r[2 * hidden:] @ (reset * ht) + rb[2 * hidden:]
            ht = (1 - z) * g(bound(wx[2 * hidden:] + new)) + z * ht
            y[t, n] = ht
        ends.append(ht)
    return y, np.array(ends)


RECURRENT = [d for d in dtypes("LSTM", opset=14) if is_float(d)]


@pytest.mark.parametrize("dtype", RECURRENT, ids=str)
@pytest.mark.parametrize("given", ["all", "no states", "no lengths"])
@pytest.mark.parametrize("layout", [0, 1])
def test_bidirectional_lstm(case_server, dtype, given, layout):
    generator = np.random.default_rng(11)
    steps, batch, size, hidden = 5, 3, 4, 3
    x, w, r = (generator.standard_normal(s).astype(dtype) for s in ((steps, batch, size), (2, 4 * hidden, size), (2, 4 * hidden, hidden)))
    b, h, c, p = (generator.standard_normal(s).astype(dtype) for s in ((2, 8 * hidden), (2, batch, hidden), (2, batch, hidden), (2, 3 * hidden)))
    lengths = np.array([5, 3, 1], np.int32) if given != "no lengths" else np.full(3, 5, np.int32)
    if given == "no states":
        h, c, p = np.zeros_like(h), np.zeros_like(c), np.zeros_like(p)
    names = ["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Relu", "Tanh"]
    wide = [v.astype(np.float64) for v in (x, w, r, b, h, c, p)]
    parts = [lstm(wide[0], wide[1][d], wide[2][d], wide[3][d], lengths, wide[4][d], wide[5][d], wide[6][d], 0.5, names[3 * d:3 * d + 3], d == 1) for d in (0, 1)]
    y, yh, yc = np.stack([q[0] for q in parts], axis=1), np.stack([q[1] for q in parts]), np.stack([q[2] for q in parts])
    if layout == 1:
        x, h, c = x.transpose(1, 0, 2).copy(), h.transpose(1, 0, 2).copy(), c.transpose(1, 0, 2).copy()
        y, yh, yc = y.transpose(2, 0, 1, 3), yh.transpose(1, 0, 2), yc.transpose(1, 0, 2)
    inputs = [x, w, r, b, lengths if given != "no lengths" else None, *((h, c, p) if given != "no states" else ())]
    attributes = {"hidden_size": hidden, "direction": "bidirectional", "clip": 0.5, "activations": names, "layout": layout}
    fixed = {1, 2, 3, 7}
    for dynamic in (False, True):
        model, values_, ranges = one_node("LSTM", inputs, attributes, outputs=3, opset=14, fixed=fixed, dynamic=dynamic)
        for mode in MODES:
            for got, want in zip(case_server.run(model, [values_], mode, ranges)[0], (y, yh, yc)):
                assert_close(got, want.astype(dtype), rtol=1e-5 if dtype != np.float16 else 5e-3, atol=1e-6 if dtype != np.float16 else 5e-3, what=f"LSTM {mode} dynamic={dynamic}")


@pytest.mark.parametrize("dtype", RECURRENT, ids=str)
@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("clip", [None, 0.5])
def test_bidirectional_gru(case_server, dtype, linear, clip):
    generator = np.random.default_rng(12)
    steps, batch, size, hidden = 5, 3, 4, 3
    x, w, r = (generator.standard_normal(s).astype(dtype) for s in ((steps, batch, size), (2, 3 * hidden, size), (2, 3 * hidden, hidden)))
    b, h = (generator.standard_normal(s).astype(dtype) for s in ((2, 6 * hidden), (2, batch, hidden)))
    lengths = np.array([5, 3, 1], np.int32)
    names = ["Sigmoid", "Tanh", "Sigmoid", "Relu"]
    wide = [v.astype(np.float64) for v in (x, w, r, b, h)]
    parts = [gru(wide[0], wide[1][d], wide[2][d], wide[3][d], lengths, wide[4][d], linear, clip, names[2 * d:2 * d + 2], d == 1) for d in (0, 1)]
    y, yh = np.stack([q[0] for q in parts], axis=1), np.stack([q[1] for q in parts])
    attributes = {"hidden_size": hidden, "direction": "bidirectional", "linear_before_reset": linear, "activations": names, **({"clip": clip} if clip else {})}
    for dynamic in (False, True):
        model, values_, ranges = one_node("GRU", [x, w, r, b, lengths, h], attributes, outputs=2, opset=14, fixed={1, 2, 3}, dynamic=dynamic)
        for mode in MODES:
            for got, want in zip(case_server.run(model, [values_], mode, ranges)[0], (y, yh)):
                assert_close(got, want.astype(dtype), rtol=1e-5 if dtype != np.float16 else 5e-3, atol=1e-6 if dtype != np.float16 else 5e-3, what=f"GRU {mode} dynamic={dynamic}")


# --- C29: graphs that are wrong, each refused with the node and the rule.

def wrong_models():
    x = {"x": (F32, (2, 3))}
    image = {"x": (F32, (1, 2, 5, 5))}
    yield "filter of another rank", "conv.*Conv|Conv.*conv", model_of([node("Conv", ["x", "w"], ["y"], name="conv")], image, ["y"], constants={"w": Z((3, 2, 3, 3, 3), F32)})
    yield "missing input", "gemm", model_of([node("Gemm", ["x", ""], ["y"], name="gemm")], x, ["y"])
    yield "missing inputs", "adder", model_of([node("Add", ["x"], ["y"], name="adder")], x, ["y"])
    yield "undefined input", "lonely", model_of([node("Relu", ["nowhere"], ["y"], name="lonely")], x, ["y"])
    yield "einsum operand missing", "sum", model_of([node("Einsum", ["x"], ["y"], name="sum", equation="ij,jk->ik")], x, ["y"])
    yield "einsum rank", "sum", model_of([node("Einsum", ["x"], ["y"], name="sum", equation="ijk->k")], x, ["y"])
    yield "einsum sizes", "sum", model_of([node("Einsum", ["x", "x"], ["y"], name="sum", equation="ij,jk->ik")], x, ["y"])
    yield "einsum text", "sum", model_of([node("Einsum", ["x"], ["y"], name="sum", equation="i(j->i")], x, ["y"])
    yield "cycle", "first|second", model_of([node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"], name="second")], x, ["b"])
    yield "defined twice", "again", model_of([node("Relu", ["x"], ["y"], name="once"), node("Neg", ["x"], ["y"], name="again")], x, ["y"])
    twice = model_of([node("Softmax", ["x"], ["y"], name="soft", axis=1)], x, ["y"])
    twice.graph.node[0].attribute.append(helper.make_attribute("axis", 0))
    yield "attribute twice", "soft", twice
    yield "permutation repeats", "turn", model_of([node("Transpose", ["x"], ["y"], name="turn", perm=[1, 1])], x, ["y"])
    yield "permutation of another rank", "turn", model_of([node("Transpose", ["x"], ["y"], name="turn", perm=[0, 1, 2])], x, ["y"])
    yield "split sizes", "cut", model_of([node("Split", ["x", "n"], ["y", "z"], name="cut", axis=1)], x, ["y", "z"], constants={"n": np.array([1, 1], I64)})
    yield "axis beyond", "soft", model_of([node("Softmax", ["x"], ["y"], name="soft", axis=2)], x, ["y"])
    yield "unknown operator", "magic", model_of([node("NoSuchOperator", ["x"], ["y"], name="magic")], x, ["y"])
    yield "wrong attribute type", "soft", model_of([node("Softmax", ["x"], ["y"], name="soft", axis=1.5)], x, ["y"])
    yield "types that differ", "adder", model_of([node("Add", ["x", "i"], ["y"], name="adder")], {**x, "i": (I64, (3,))}, ["y"])
    yield "shapes that do not broadcast", "adder", model_of([node("Add", ["x", "i"], ["y"], name="adder")], {**x, "i": (F32, (4,))}, ["y"])
    yield "output never computed", "z", model_of([node("Relu", ["x"], ["y"], name="relu")], x, ["z"])
    body = loop_body([node("Identity", ["keep"], ["go"]), node("Add", ["a", "a"], ["b"])], [("a", F32, (2, 3))], ["go", "b"], {"a": Z((2, 3), F32)})
    yield "body input that is an initializer", "looper|a", model_of([node("Loop", ["", "", "x"], ["y"], name="looper", body=body)], x, ["y"])
    for how in ("directly", "in an If"):
        calls = model_of([node("A", ["x"], ["y"], name="caller", domain="local")], x, ["y"], domains=["local"])
        for name, other in (("A", "B"), ("B", "A")):
            inner = node(other, ["u"], ["v"], domain="local")
            nodes = [inner]
            if how == "in an If":
                branches = {key: graph(key, [node(other, ["u"], ["o"], domain="local")], [], ["o"]) for key in ("then_branch", "else_branch")}
                nodes = [node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [1])), node("If", ["c"], ["v"], **branches)]
            calls.functions.append(helper.make_function("local", name, ["u"], ["v"], nodes, [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]))
        yield f"functions that call each other {how}", "A|B", calls


@pytest.mark.parametrize("case", wrong_models(), ids=lambda c: c[0].replace(" ", "_"))
def test_wrong_graphs_name_the_node(case_server, case):
    _, names, model = case
    for mode in ("reference", "engine"):
        with pytest.raises(RotaError, match=names):
            case_server.run(model, [[Z([d.dim_value for d in v.type.tensor_type.shape.dim], helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)) for v in model.graph.input]], mode)


def change(node, kind):
    """Makes one thing wrong, if the node has what it takes."""
    attribute = node.attribute[0] if node.attribute else None
    if kind == "no outputs":
        del node.output[:]
    elif kind == "other operator":
        node.op_type = "Concat" if node.op_type != "Concat" else "Conv"
    elif kind == "no operator":
        node.op_type = ""
    elif kind == "drop input" and node.input:
        del node.input[0]
    elif kind == "more inputs" and node.input:
        node.input.extend([node.input[0]] * 3)
    elif kind == "self input" and node.input and node.output:
        node.input[0] = node.output[0]
    elif kind == "drop attribute" and attribute:
        del node.attribute[0]
    elif kind == "double attribute" and attribute:
        node.attribute.append(attribute)
    elif kind == "large attribute" and attribute:
        if attribute.type == onnx.AttributeProto.INT:
            attribute.i = -(2**63)
        elif attribute.type == onnx.AttributeProto.INTS:
            attribute.ints[:] = [2**62] * (len(attribute.ints) + 1)
        elif attribute.type == onnx.AttributeProto.STRING:
            attribute.s = b"\xff" * 300
        else:
            attribute.type = onnx.AttributeProto.INT
    else:
        return False
    return True


KINDS = ["no outputs", "other operator", "no operator", "drop input", "more inputs", "self input", "drop attribute", "double attribute", "large attribute"]


def test_mutated_models_are_answered(case_server, node_cases):
    """Every node model of the onnx package (one for each list of operators) with one thing wrong at each node: an error or a
    graph, never a crash."""
    seen, refused, answered = set(), 0, 0
    for line in (node_cases / "cases.tsv").read_text().splitlines():
        name, group = line.split("\t")[0], line.split("\t")[3]
        path = node_cases / name / "model.onnx"
        if group != "node" or path.stat().st_size > 20000:
            continue
        original = path.read_bytes()
        model = onnx.load_model_from_string(original)
        operators = tuple(n.op_type for n in model.graph.node)
        if operators in seen or len(operators) > 12:
            continue
        seen.add(operators)
        for i in range(len(operators)):
            for kind in KINDS:
                changed = onnx.load_model_from_string(original)
                if not change(changed.graph.node[i], kind):
                    continue
                try:
                    case_server.run(changed, [], "reference")
                    answered += 1
                except RotaError as error:
                    refused += 1
                    assert str(error).startswith("R"), (name, kind, error)
    assert refused > 1000 and answered > 100, (refused, answered)
