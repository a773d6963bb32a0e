# SPDX-License-Identifier: Apache-2.0
"""Numeric corners known from public reports: each case in every type that the operator allows, with fixed and with dynamic sizes,
by the reference, by an engine of level 0, and by one of reference kernels only. Expected values are worked out by hand or by a few
lines of numpy; where the standard is silent the comment says what we chose."""
import numpy as np
import pytest
from onnx import helper

from case_server import model_of, one_node
from case_values import BFLOAT16, assert_close, dtypes, is_float, limits, values

MODES = ["reference", "engine", "generic"]
NAN, INF = np.nan, np.inf


def check(server, operator, inputs, wants, attributes=None, fixed=(), opset=None, **tolerance):
    """One node, in all modes, with fixed and with dynamic sizes. `wants`: an array, or one for each output (None: not asked for)."""
    wants = wants if isinstance(wants, (list, tuple)) else [wants]
    options = {} if opset is None else {"opset": opset}
    for dynamic in (False, True):
        model, given, ranges = one_node(operator, inputs, attributes, outputs=len(wants), fixed=fixed, dynamic=dynamic, **options)
        for mode in MODES:
            for i, (got, want) in enumerate(zip(server.run(model, [given], mode, ranges)[0], wants)):
                if want is not None:
                    assert_close(got, np.asarray(want), **tolerance, what=f"{operator} output {i}, {mode}, {'dynamic' if dynamic else 'fixed'}")


def check_model(server, model, inputs, wants, ranges=None, **tolerance):
    for mode in MODES:
        for i, (got, want) in enumerate(zip(server.run(model, [inputs], mode, ranges)[0], wants)):
            assert_close(got, np.asarray(want), **tolerance, what=f"output {i}, {mode}")


def floats(operator, variable="T", opset=None):
    return [d for d in (dtypes(operator, variable) if opset is None else dtypes(operator, variable, opset)) if is_float(d)]


# --- C01: NaN through Clip, Min, Max and the activations. NaN stays, whichever operand holds it (as numpy); max wins over min.

LENGTHS = [1, 3, 7, 8, 9, 15, 16, 17, 33]  # around the widths of vectors


@pytest.mark.parametrize("dtype", floats("Clip", opset=13), ids=str)
def test_nan_through_clip(case_server, dtype):
    x = np.array([NAN, -20, 0, 20], dtype)
    check(case_server, "Clip", [x, dtype.type(-10), dtype.type(10)], np.array([NAN, -10, 0, 10], dtype), opset=13)
    check(case_server, "Clip", [x, dtype.type(-10), None], np.array([NAN, -10, 0, 20], dtype), opset=13)
    for n in LENGTHS:
        check(case_server, "Clip", [np.resize(x, n), dtype.type(-10), dtype.type(10)], np.resize(np.array([NAN, -10, 0, 10], dtype), n), opset=13)


@pytest.mark.parametrize("dtype", dtypes("Clip", opset=13), ids=str)
def test_clip_whose_bounds_cross(case_server, dtype):
    x = np.array([0, 1, 6], dtype) if not is_float(dtype) and limits(dtype).min == 0 else np.array([-2, 0, 6], dtype)
    check(case_server, "Clip", [x, dtype.type(2), dtype.type(1)], np.array([1, 1, 1], dtype), opset=13)
    check(case_server, "Clip", [x, dtype.type(2), dtype.type(1)], np.array([1, 1, 1], dtype), fixed={1, 2}, opset=13)


@pytest.mark.parametrize("operator", ["Min", "Max"])
@pytest.mark.parametrize("dtype", floats("Max", opset=13), ids=str)
def test_nan_through_min_and_max(case_server, dtype, operator):
    column = np.array([[NAN], [1], [20]], dtype)
    want = np.array([[NAN], [1], [10]] if operator == "Min" else [[NAN], [10], [20]], dtype)
    check(case_server, operator, [column, np.array([10], dtype)], want, opset=13)
    check(case_server, operator, [np.array([10], dtype), column], want, opset=13)
    for n in LENGTHS:
        x, y = np.resize(np.array([NAN, 1, 20, 5], dtype), n), np.resize(np.array([1, NAN, 3, 7], dtype), n)
        check(case_server, operator, [x, y], np.resize(np.array([NAN, NAN, 3, 5] if operator == "Min" else [NAN, NAN, 20, 7], dtype), n), opset=13)


@pytest.mark.parametrize("operator", ["Relu", "LeakyRelu", "PRelu", "Sigmoid", "Tanh", "Softmax", "Elu", "HardSigmoid"])
def test_nan_through_activations(case_server, operator):
    for dtype in floats(operator):
        for n in LENGTHS:
            x = np.full(n, -1, dtype)
            x[n // 2] = NAN
            for mode in MODES:
                model, given, _ = one_node(operator, [x] if operator != "PRelu" else [x, np.array([2], dtype)])
                got = case_server.run(model, [given], mode)[0][0]
                want = np.isnan(x) if operator != "Softmax" else np.full(n, True)
                assert (np.isnan(got) == want).all(), (operator, dtype, n, mode, got)


# --- C03: layer normalisation written out, whose squares do not fit float16, and relatives.

def layer_norm_nodes(spelling):
    """(nodes, constants) from x to y, along the last axis."""
    square = [helper.make_node("Pow", ["d", "two"], ["s"])] if spelling != "mul" else [helper.make_node("Mul", ["d", "d"], ["s"])]
    divide = [helper.make_node("Div", ["d", "r"], ["n"])] if spelling != "reciprocal" else \
        [helper.make_node("Reciprocal", ["r"], ["q"]), helper.make_node("Mul", ["d", "q"], ["n"])]
    scale = [helper.make_node("Mul", ["n", "gain"], ["g"]), helper.make_node("Add", ["g", "bias"], ["y"])] if spelling != "plain" else [helper.make_node("Identity", ["n"], ["y"])]
    return [helper.make_node("ReduceMean", ["x", "last"], ["m"]), helper.make_node("Sub", ["x", "m"], ["d"]), *square,
            helper.make_node("ReduceMean", ["s", "last"], ["v"]), helper.make_node("Add", ["v", "eps"], ["e"]), helper.make_node("Sqrt", ["e"], ["r"]), *divide, *scale]


@pytest.mark.parametrize("spelling", ["pow", "mul", "reciprocal", "plain", "casts", "transposed"])
@pytest.mark.parametrize("rows", ["alternating", "offset"])
def test_layer_normalisation_written_out(case_server, spelling, rows):
    generator = np.random.default_rng(3)
    x = np.tile(np.array([400, -400], np.float32), (1, 8, 384)) if rows == "alternating" else (3000 + generator.standard_normal((1, 8, 768))).astype(np.float32)
    dtype = np.dtype(np.float16 if spelling == "casts" else np.float32)
    x = x.astype(dtype)
    nodes = layer_norm_nodes(spelling)
    constants = {"two": np.float32(2), "eps": np.float32(1e-5), "last": np.array([-1], np.int64), "gain": np.ones(768, np.float32), "bias": np.zeros(768, np.float32)}
    shape, name = list(x.shape), "y"
    if spelling == "casts":  # float16 outside, float32 inside
        for node in nodes:
            node.input[:] = ["wide" if i == "x" else i for i in node.input]
        nodes = [helper.make_node("Cast", ["x"], ["wide"], to=1), *nodes, helper.make_node("Cast", ["y"], ["z"], to=10)]
        name = "z"
    elif spelling == "transposed":  # channels first outside
        for node in nodes:
            node.input[:] = ["t" if i == "x" else i for i in node.input]
        nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), *nodes, helper.make_node("Transpose", ["y"], ["z"], perm=[0, 2, 1])]
        x, shape, name = np.ascontiguousarray(x.transpose(0, 2, 1)), [1, 768, 8], "z"
    wide = (x.transpose(0, 2, 1) if spelling == "transposed" else x).astype(np.float64)
    want = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    want = (want.transpose(0, 2, 1) if spelling == "transposed" else want).astype(dtype)
    for dims, ranges in ((shape, None), (["n", *shape[1:]], {"x": [(1, 1, 4), *((n, n, n) for n in shape[1:])]})):
        check_model(case_server, model_of(nodes, {"x": (dtype, dims)}, [name], constants=constants), [x], [want], ranges, atol=1e-2 if rows == "alternating" else 2e-2)


@pytest.mark.parametrize("dtype", floats("LayerNormalization"), ids=str)
def test_normalisations_compute_wider_than_float16(case_server, dtype):
    """Squares of 400 do not fit float16; the operators add up in float32 or more whatever the type is."""
    x = np.tile(np.array([400, -400], dtype), (2, 4, 48))
    flat = np.tile(np.array([1, -1], dtype), (2, 4, 48))
    ones, zeros = np.ones(96, dtype), np.zeros(96, dtype)
    check(case_server, "LayerNormalization", [x, ones, zeros], flat, {"axis": -1}, rtol=1e-2)
    check(case_server, "RMSNormalization", [x, ones], flat, {"axis": -1}, rtol=1e-2)
    check(case_server, "InstanceNormalization", [x, np.ones(4, dtype), np.zeros(4, dtype)], flat, rtol=1e-2)
    check(case_server, "GroupNormalization", [x, np.ones(4, dtype), np.zeros(4, dtype)], flat, {"num_groups": 2}, rtol=1e-2)
    length = np.full((1, 96), 400, dtype)
    check(case_server, "LpNormalization", [length], (length.astype(np.float64) / np.sqrt(96 * 400.0**2)).astype(dtype), {"axis": 1, "p": 2}, rtol=1e-2)


@pytest.mark.parametrize("dtype", floats("Softmax"), ids=str)
def test_softmax_of_large_logits(case_server, dtype):
    big = np.float64(limits(dtype).max) / 2
    check(case_server, "Softmax", [np.array([[big, big, 0], [-big, -big, -big], [-INF, 0, -INF]]).astype(dtype)],
          np.array([[0.5, 0.5, 0], [1 / 3] * 3, [0, 1, 0]]).astype(dtype), ulps=2)


def test_sum_of_many_ones(case_server):
    """The declared type decides: 100000 does not fit float16."""
    for dtype, want in ((np.float32, 100000), (np.float16, INF), (np.float64, 100000), (BFLOAT16, np.float32(99840))):
        check(case_server, "ReduceSum", [np.ones(100000, dtype), np.array([0], np.int64)], np.array(want).astype(dtype), {"keepdims": 0}, fixed={1})


# --- C05: pools with ceil_mode. A window that starts beyond the input is dropped; what lies beyond the padding never counts.

@pytest.mark.parametrize("opset", [11, 19, 22])
def test_average_pool_with_ceil_mode(case_server, opset):
    for dtype in floats("AveragePool", opset=opset):
        x = np.arange(1, 17).reshape(1, 1, 4, 4).astype(dtype)
        attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "count_include_pad": 1}
        check(case_server, "AveragePool", [x], np.array([[[[6, 7.5], [12, 13.5]]]], dtype), attributes, opset=opset)
        check(case_server, "AveragePool", [x], np.array([[[[6, 7.5], [12, 13.5]]]], dtype), {**attributes, "count_include_pad": 0}, opset=opset)
        # Uneven pads: three rows of zeros in front would be too many for the kernel, one is not.
        padded = np.pad(np.arange(1, 17).reshape(4, 4).astype(np.float64), ((1, 0), (0, 2)))
        want = np.array([[padded[r:r + 3, c:c + 3].mean() for c in (0, 2)] for r in (0, 2)])
        check(case_server, "AveragePool", [x], want.reshape(1, 1, 2, 2).astype(dtype), {**attributes, "pads": [1, 0, 0, 2], "ceil_mode": 0}, opset=opset, ulps=1, rtol=1e-6)


def test_average_pool_same_lower_counts_its_padding(case_server):
    for dtype in floats("AveragePool", opset=19):
        x = np.arange(12).reshape(1, 1, 6, 2).astype(dtype)
        want = np.array([[1.2, 1.8], [2.4, 3.2], [4, 5], [6, 7], [5.6, 6.4], [4.8, 5.4]]).reshape(1, 1, 6, 2).astype(dtype)
        check(case_server, "AveragePool", [x], want, {"kernel_shape": [5, 1], "auto_pad": "SAME_LOWER", "count_include_pad": 1}, opset=19, ulps=1, rtol=1e-6)


def test_pool_window_that_starts_beyond_the_input(case_server):
    for operator in ("AveragePool", "MaxPool"):
        for dtype in dtypes(operator):
            check(case_server, operator, [np.array([[[5, 7]]], dtype)], np.array([[[5]]], dtype), {"kernel_shape": [1], "strides": [2], "ceil_mode": 1}, opset=22)


def test_dilated_average_pool_with_ceil_mode(case_server):
    for dtype in floats("AveragePool", opset=19):
        x = np.arange(8).reshape(1, 1, 8).astype(dtype)
        # Windows of places 0 2 4, 2 4 6, 4 6 (8 lies beyond the padding and does not count).
        check(case_server, "AveragePool", [x], np.array([[[2, 4, 5]]], dtype), {"kernel_shape": [3], "strides": [2], "dilations": [2], "ceil_mode": 1, "count_include_pad": 1}, opset=19)


# --- C07: GridSample. Cubic coefficients are taken at the point itself, and the neighbours are clamped one by one (as PyTorch).

def test_grid_sample_bicubic_at_the_border(case_server):
    for dtype in (np.float32, np.float64, np.float16):
        x = np.tile(np.arange(4, dtype=dtype), (1, 1, 4, 1))
        grid = np.array([-1.1, 0], np.float32).reshape(1, 1, 1, 2)
        check(case_server, "GridSample", [x, grid], np.array(-0.08128, dtype).reshape(1, 1, 1, 1), {"mode": "cubic", "padding_mode": "border", "align_corners": 1}, opset=20, atol=2e-3 if dtype == np.float16 else 1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample_far_points(case_server, mode, padding, align):
    """NaN and huge coordinates never read outside: the answer is a number of the image, or what NaN makes of it."""
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    grid = np.array([[NAN, 0], [1e38, -1e38], [INF, -INF], [0, NAN], [-3.4e38, 3.4e38]], np.float32).reshape(1, 1, 5, 2)
    results = []
    for each in MODES:
        model, given, _ = one_node("GridSample", [x, grid], {"mode": mode, "padding_mode": padding, "align_corners": align})
        results.append(case_server.run(model, [given], each)[0][0])
        assert results[-1].shape == (1, 1, 1, 5)
        finite = results[-1][np.isfinite(results[-1])]
        assert (np.abs(finite) <= 60).all(), results[-1]
    assert_close(results[1], results[0], rtol=1e-5, atol=1e-5, what="engine and reference")


def linear_sample(x, grid, padding, align):
    """Linear GridSample in any number of dims, written from the standard: x [C, spatial...], grid [points, dims] with the last dim first."""
    sizes, points = x.shape[1:], []
    for point in grid:
        places = []
        for d, n in enumerate(sizes):
            v = float(point[len(sizes) - 1 - d])
            place = (v + 1) / 2 * (n - 1) if align else ((v + 1) * n - 1) / 2
            if padding == "border":
                place = min(max(place, 0), n - 1)
            if padding == "reflection":
                low, high = (0, n - 1) if align else (-0.5, n - 0.5)
                while n > 1 and not low <= place <= high:
                    place = 2 * low - place if place < low else 2 * high - place
                place = min(max(place, 0), n - 1)
            places.append(place)
        total = np.zeros(x.shape[0])
        for corner in np.ndindex(*(2,) * len(sizes)):
            at, weight = [], 1.0
            for place, n, bit in zip(places, sizes, corner):
                i = int(np.floor(place)) + bit
                weight *= 1 - abs(place - i)
                at.append(i)
            if all(0 <= i < n for i, n in zip(at, sizes)):
                total += weight * x[(slice(None), *at)]
        points.append(total)
    return np.array(points).T


@pytest.mark.parametrize("sizes", [(4, 5), (3, 4, 5)], ids=["2d", "3d"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample_linear(case_server, sizes, padding, align):
    generator = np.random.default_rng(5)
    x = generator.standard_normal((1, 2, *sizes)).astype(np.float32)
    grid = generator.uniform(-2.5, 2.5, (1, *(3,) * len(sizes), len(sizes))).astype(np.float32)
    want = linear_sample(x[0].astype(np.float64), grid.reshape(-1, len(sizes)).astype(np.float64), padding, align)
    check(case_server, "GridSample", [x, grid], want.reshape(1, 2, *(3,) * len(sizes)).astype(np.float32), {"mode": "linear", "padding_mode": padding, "align_corners": align}, atol=1e-5)


# --- C09: ties go to the first, or with select_last_index to the last. NaN is beyond all numbers; -0 equals 0.

@pytest.mark.parametrize("dtype", floats("Hardmax", opset=13), ids=str)
def test_hardmax_ties(case_server, dtype):
    check(case_server, "Hardmax", [np.array([1, 3, 3, 0, 3], dtype)], np.array([0, 1, 0, 0, 0], dtype), {"axis": 0}, opset=13)
    check(case_server, "Hardmax", [np.array([-1, -0.0, 0.0, -5], dtype)], np.array([0, 1, 0, 0], dtype), {"axis": 0}, opset=13)
    check(case_server, "Hardmax", [np.array([1, NAN, 5, NAN], dtype)], np.array([0, 1, 0, 0], dtype), {"axis": 0}, opset=13)


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("dtype", dtypes("ArgMax", opset=13), ids=str)
def test_arg_ties(case_server, dtype, operator):
    x = np.array([1, 3, 3, 0, 3] if operator == "ArgMax" else [5, 2, 2, 9, 2], dtype)
    for n in (5, 257, 1025, 4096):  # one block of a kernel plus one element
        line = np.concatenate([x, np.full(n - 6, x[0]), x[1:2]]) if n > 5 else x
        for last, want in ((0, 1), (1, n - 1)):
            check(case_server, operator, [line], np.array([want], np.int64), {"axis": 0, "select_last_index": last}, opset=13)
    if is_float(dtype):
        check(case_server, operator, [np.array([-0.0, 0.0, -0.0], dtype)], np.array([0], np.int64), {"axis": 0}, opset=13)
        check(case_server, operator, [np.array([7, NAN, 1, NAN], dtype)], np.array([1], np.int64), {"axis": 0}, opset=13)


@pytest.mark.parametrize("dtype", dtypes("TopK", opset=24), ids=str)
def test_top_k_ties(case_server, dtype):
    x, k = np.array([1, 3, 3, 0, 3], dtype), np.array([2], np.int64)
    check(case_server, "TopK", [x, k], [np.array([3, 3], dtype), np.array([1, 2], np.int64)], fixed={1})
    check(case_server, "TopK", [x, k], [np.array([0, 1], dtype), np.array([3, 0], np.int64)], {"largest": 0}, fixed={1})
    many = np.resize(np.array([2, 0, 1, 1, 2], dtype), 4096)
    places = np.argsort(-many.astype(np.float64), kind="stable")[:2000]
    check(case_server, "TopK", [many, np.array([2000], np.int64)], [many[places], places.astype(np.int64)], fixed={1})


# --- C11: ConvTranspose with auto_pad and output_padding.

def transposed(x, w, strides, pads, out, group=1, dilations=(1, 1)):
    """Every input element spreads the filter; what falls off the edges is dropped."""
    wide = np.zeros((x.shape[0], w.shape[1] * group, out[0] + pads[0] + pads[2] + 64, out[1] + pads[1] + pads[3] + 64))
    per = x.shape[1] // group
    for n, c, i, j in np.ndindex(*x.shape):
        g = c // per
        for m, p, q in np.ndindex(*w.shape[1:]):
            wide[n, g * w.shape[1] + m, i * strides[0] + p * dilations[0], j * strides[1] + q * dilations[1]] += float(x[n, c, i, j]) * float(w[c, m, p, q])
    return wide[:, :, pads[0]:pads[0] + out[0], pads[1]:pads[1] + out[1]]


@pytest.mark.parametrize("dtype", floats("ConvTranspose"), ids=str)
def test_conv_transpose_auto_pad(case_server, dtype):
    opset = 22 if dtype == BFLOAT16 else 11
    tolerance = {"rtol": 1e-5 if dtype.itemsize > 2 else 2e-2, "atol": 1e-5 if dtype.itemsize > 2 else 2e-2}
    x, w = values(dtype, (1, 2, 3, 3), 1, specials=False), values(dtype, (2, 1, 3, 3), 2, specials=False)
    want = transposed(x, w, (2, 2), (1, 1, 1, 1), (6, 6)).astype(dtype)
    base = {"strides": [2, 2], "output_padding": [1, 1]}
    check(case_server, "ConvTranspose", [x, w], want, {**base, "auto_pad": "SAME_UPPER"}, fixed={1}, opset=opset, **tolerance)
    check(case_server, "ConvTranspose", [x, w], want, {**base, "pads": [1, 1, 1, 1]}, fixed={1}, opset=opset, **tolerance)
    # An odd total: SAME_LOWER has the larger half in front, SAME_UPPER at the end.
    for auto, pads in (("SAME_LOWER", (1, 1, 0, 0)), ("SAME_UPPER", (0, 0, 1, 1))):
        check(case_server, "ConvTranspose", [x, w], transposed(x, w, (2, 2), pads, (6, 6)).astype(dtype), {"strides": [2, 2], "auto_pad": auto}, fixed={1}, opset=opset, **tolerance)
    # Stride 1: as large as the input.
    check(case_server, "ConvTranspose", [x, w], transposed(x, w, (1, 1), (1, 1, 1, 1), (3, 3)).astype(dtype), {"auto_pad": "SAME_UPPER"}, fixed={1}, opset=opset, **tolerance)


def test_conv_transpose_forms(case_server):
    x, w = values(np.float32, (2, 4, 3, 4), 1, specials=False), values(np.float32, (4, 3, 3, 2), 2, specials=False)
    attributes = {"strides": [3, 2], "group": 2, "dilations": [1, 2], "output_padding": [1, 0], "pads": [1, 0, 2, 1]}
    want = transposed(x, w, (3, 2), (1, 0, 2, 1), (7, 8), group=2, dilations=(1, 2)).astype(np.float32)
    check(case_server, "ConvTranspose", [x, w], want, attributes, fixed={1}, rtol=1e-4, atol=1e-4)
    # output_shape wins: the pads follow from it, the odd one at the end for NOTSET and SAME_UPPER.
    x, w = values(np.float32, (1, 2, 3, 3), 3, specials=False), values(np.float32, (2, 1, 3, 3), 4, specials=False)
    for size, auto, pads in ((6, "SAME_UPPER", (0, 0, 1, 1)), (6, "SAME_LOWER", (1, 1, 0, 0)), (5, "SAME_UPPER", (1, 1, 1, 1)), (7, "SAME_UPPER", (0, 0, 0, 0))):
        want = transposed(x, w, (2, 2), pads, (size, size)).astype(np.float32)
        check(case_server, "ConvTranspose", [x, w], want, {"strides": [2, 2], "output_shape": [size, size], "auto_pad": auto}, fixed={1}, rtol=1e-4, atol=1e-4)


# --- C23: 8-bit products are exact on every machine: no pair of products may saturate at 16 bits.

SIGNS = [(np.uint8, np.int8), (np.uint8, np.uint8), (np.int8, np.int8), (np.int8, np.uint8)]


@pytest.mark.parametrize("kinds", SIGNS, ids=lambda k: f"{k[0].__name__}x{k[1].__name__}")
def test_matmul_integer_is_exact(case_server, kinds):
    cases = []
    if kinds == (np.uint8, np.int8):
        cases.append((np.array([[210, 198, 234]], np.uint8), np.array([[-81], [-80], [127]], np.int8), np.array([[-3132]], np.int32)))
        cases.append((np.full((1, 64), 255, np.uint8), np.full((64, 1), 127, np.int8), np.array([[2072640]], np.int32)))
    for k in (1, 7, 63, 64, 65, 127):
        a, b = values(kinds[0], (5, k), k, low=-128, high=255), values(kinds[1], (k, 9), k + 1, low=-128, high=255)
        a[0], b[:, 0] = np.iinfo(kinds[0]).max, np.iinfo(kinds[1]).max
        a[1], b[:, 1] = np.iinfo(kinds[0]).min, np.iinfo(kinds[1]).min
        cases.append((a, b, a.astype(np.int32) @ b.astype(np.int32)))
    for a, b, want in cases:
        check(case_server, "MatMulInteger", [a, b, kinds[0](0), kinds[1](0)], want, fixed={1})
        shifted = (a.astype(np.int32) - 3) @ (b.astype(np.int32) - 5)
        check(case_server, "MatMulInteger", [a, b, kinds[0](3), kinds[1](5)], shifted, fixed={1})
        # One zero point for each row of A and each column of B.
        rows, columns = values(kinds[0], a.shape[:1], 8, low=0, high=100), values(kinds[1], b.shape[1:], 9, low=0, high=100)
        shifted = (a.astype(np.int32) - rows.astype(np.int32)[:, None]) @ (b.astype(np.int32) - columns.astype(np.int32))
        check(case_server, "MatMulInteger", [a, b, rows, columns], shifted, fixed={1, 3})


def test_matmul_integer_reaches_the_limit_of_int32(case_server):
    """255 * 127 * 66312 is the last sum below 2^31; one more wraps, as integers do."""
    for k in (66312, 66313):
        a, b = np.full((1, k), 255, np.uint8), np.full((k, 1), 127, np.int8)
        check(case_server, "MatMulInteger", [a, b], np.array([[k * 255 * 127]], np.int64).astype(np.int32), fixed={1})


def test_qlinear_products_are_exact(case_server):
    one, zero = np.float32(1), np.uint8(0)
    a, b = np.full((2, 64), 255, np.uint8), np.full((64, 3), 127, np.int8)
    scale = np.float32(2072640 / 200)
    check(case_server, "QLinearMatMul", [a, one, zero, b, one, np.int8(0), scale, zero], np.full((2, 3), 200, np.uint8), fixed=set(range(1, 8)), opset=10)
    x, w = np.full((1, 64, 3, 3), 255, np.uint8), np.full((5, 64, 1, 1), 127, np.int8)
    check(case_server, "QLinearConv", [x, one, zero, w, one, np.int8(0), scale, zero], np.full((1, 5, 3, 3), 200, np.uint8), fixed=set(range(1, 8)), opset=10)
    check(case_server, "ConvInteger", [x, w], np.full((1, 5, 3, 3), 2072640, np.int32), fixed={1}, opset=10)


# --- Integers wrap; the most negative number divided by -1 stays itself; a division by zero names its node.

@pytest.mark.parametrize("dtype", [d for d in dtypes("Add") if not is_float(d)], ids=str)
def test_integers_wrap(case_server, dtype):
    low, high = limits(dtype).min, limits(dtype).max
    x, one = np.array([low, high, 0], dtype), np.array([1, 1, 1], dtype)
    with np.errstate(all="ignore"):
        check(case_server, "Add", [x, one], x + one)
        check(case_server, "Sub", [x, one], x - one)
        check(case_server, "Mul", [x, x], x * x)
        if low < 0:
            check(case_server, "Div", [x, -one], np.array([low, -high, 0], dtype))
            check(case_server, "Mod", [x, -one], np.zeros(3, dtype))
            check(case_server, "Neg" if dtype in dtypes("Neg") else "Abs", [x], np.array([low, -high, 0], dtype))
            check(case_server, "Abs", [x], np.array([low, high, 0], dtype))


@pytest.mark.parametrize("operator", ["Div", "Mod"])
@pytest.mark.parametrize("mode", MODES)
def test_integer_division_by_zero_names_the_node(case_server, operator, mode):
    from case_server import RotaError
    model, given, _ = one_node(operator, [np.array([1, 2], np.int32), np.array([1, 0], np.int32)])
    with pytest.raises(RotaError, match="'node"):
        case_server.run(model, [given], mode)
