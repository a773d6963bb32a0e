# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, sorting and softmax against numpy: any axes, keepdims, empty axes, axes of size 0, NaN, ties; by the
reference and by an engine of level 0. Seeds are fixed, so a failure repeats."""
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from case_server import one_node
from case_values import assert_close, dtypes, is_float, is_integer, limits, values

REPEATABLE = settings(derandomize=True, database=None, deadline=None, max_examples=30)
modes = st.sampled_from(["reference", "reference", "engine"])
seeds = st.integers(0, 2**32 - 1)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7)


def run(server, mode, operator, inputs, attributes=None, **options):
    model, given_inputs, ranges = one_node(operator, inputs, attributes, **options)
    return server.run(model, [given_inputs], mode, ranges)[0]


def log_sum_exp(x, axis, keepdims):
    return np.logaddexp.reduce(x, axis=axis, keepdims=keepdims) if axis != () else x


def reduce_each(ufunc, start=None):
    """A reduction over several axes at once that knows what no elements give."""
    return lambda x, axis, keepdims: ufunc.reduce(x, axis=axis, keepdims=keepdims, **({} if start is None else {"initial": start}))


REDUCTIONS = {  # in double
    "ReduceSum": reduce_each(np.add), "ReduceProd": reduce_each(np.multiply), "ReduceSumSquare": lambda x, axis, keepdims: np.sum(x * x, axis=axis, keepdims=keepdims),
    "ReduceL1": lambda x, axis, keepdims: np.sum(np.abs(x), axis=axis, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
    "ReduceMean": lambda x, axis, keepdims: np.divide(np.sum(x, axis=axis, keepdims=keepdims), np.sum(np.ones_like(x), axis=axis, keepdims=keepdims)),
    "ReduceLogSum": lambda x, axis, keepdims: np.log(np.sum(x, axis=axis, keepdims=keepdims)),
    "ReduceLogSumExp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
    "ReduceMax": reduce_each(np.maximum, -np.inf), "ReduceMin": reduce_each(np.minimum, np.inf),
}


def reduce_integers(operator, x, axis, keepdims):
    """In the type itself, so that sums wrap."""
    if operator in ("ReduceMax", "ReduceMin"):
        if x.dtype == bool:
            return (np.any if operator == "ReduceMax" else np.all)(x, axis=axis, keepdims=keepdims)
        start = limits(x.dtype).min if operator == "ReduceMax" else limits(x.dtype).max
        return (np.max if operator == "ReduceMax" else np.min)(x, axis=axis, keepdims=keepdims, initial=start)
    x = {"ReduceSumSquare": lambda v: v * v, "ReduceL1": np.abs}.get(operator, lambda v: v)(x)
    return (np.prod if operator == "ReduceProd" else np.sum)(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


@pytest.mark.parametrize("operator", REDUCTIONS)
@REPEATABLE
@given(data=st.data(), mode=modes, shape=shapes, seed=seeds, keepdims=st.booleans(), noop=st.booleans())
def test_reduction(operator, case_server, data, mode, shape, seed, keepdims, noop):
    whole = operator in ("ReduceL2", "ReduceMean", "ReduceLogSum", "ReduceLogSumExp")  # in integers the standard leaves the rounding open
    dtype = data.draw(st.sampled_from([d for d in dtypes(operator) if is_float(d) or not whole]))
    axes = data.draw(st.none() | st.lists(st.integers(0, len(shape) - 1), unique=True)) if shape else None
    written = None if axes is None else np.array([a - len(shape) if (seed >> a) & 1 else a for a in axes], np.int64)
    x = values(dtype, shape, seed)
    none_given = axes is None or not axes
    axis = (() if noop else tuple(range(len(shape)))) if none_given else tuple(axes)
    got = run(case_server, mode, operator, [x, written], {"keepdims": int(keepdims), "noop_with_empty_axes": int(noop)}, fixed={1}, dynamic=seed % 2 == 0)[0]
    with np.errstate(all="ignore"):
        if is_float(dtype):
            wide = x.astype(np.float64)
            want = np.asarray(REDUCTIONS[operator](wide, axis, keepdims), np.float64)
            size = float(np.sum(np.abs(np.where(np.isfinite(wide), wide, 0)))) if operator in ("ReduceSum", "ReduceMean") else 0.0
            count = x.size // max(want.size, 1)
            if operator in ("ReduceSum", "ReduceMean", "ReduceLogSum") and size > 1e300:
                return  # the order of the sum decides whether it overflows on the way
            eps = float(limits(dtype).eps)
            fast = mode == "engine" and dtype == np.float32
            with np.errstate(all="ignore"):
                narrow = want.astype(dtype)
            tolerance = {"rtol": 2 * eps + count * 1e-15 + (1e-5 if fast else 0), "atol": (count + 1) * 1e-16 * size + (1e-6 if fast else 0)}
            if operator == "ReduceLogSum" or operator == "ReduceLogSumExp":
                tolerance["atol"] += 1e-5 if fast else eps * 1e-3
            if fast and operator not in ("ReduceMax", "ReduceMin"):
                tolerance["atol"] += (count + 1) * 2e-7 * float(np.sum(np.abs(np.where(np.isfinite(wide), wide, 0))))
            assert_close(got, narrow, ulps=1, **tolerance, what=operator)
        else:
            assert_close(got, np.asarray(reduce_integers(operator, x, axis, keepdims)).astype(dtype), what=operator)


def first_or_last(x, axis, last, best):
    """Index of the best along the axis; NaN is beyond all numbers."""
    if x.dtype != bool and is_float(x.dtype):
        x = x.astype(np.float64)
    if last:
        return x.shape[axis] - 1 - best(np.flip(x, axis), axis=axis)
    return best(x, axis=axis)


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@REPEATABLE
@given(data=st.data(), mode=modes, shape=hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9), seed=seeds, keepdims=st.booleans(), last=st.booleans(), ties=st.booleans())
def test_arg(operator, case_server, data, mode, shape, seed, keepdims, last, ties):
    dtype = data.draw(st.sampled_from(dtypes(operator)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(dtype, shape, seed, low=0, high=2) if ties else values(dtype, shape, seed)
    want = first_or_last(x, axis, last, np.argmax if operator == "ArgMax" else np.argmin)
    want = np.expand_dims(want, axis) if keepdims else want
    got = run(case_server, mode, operator, [x], {"axis": axis, "keepdims": int(keepdims), "select_last_index": int(last)}, dynamic=seed % 2 == 0)[0]
    assert_close(got, np.asarray(want, np.int64), what=operator)


@REPEATABLE
@given(data=st.data(), mode=modes, shape=hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9), seed=seeds, largest=st.booleans(), ties=st.booleans())
def test_top_k(case_server, data, mode, shape, seed, largest, ties):
    """Equals in the order of their places; NaN counts as the greatest."""
    dtype = data.draw(st.sampled_from(dtypes("TopK")))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    k = data.draw(st.integers(0, shape[axis]))
    x = values(dtype, shape, seed, low=0, high=2) if ties else values(dtype, shape, seed)
    key = x.astype(np.float64) if is_float(dtype) else x
    if largest:  # stable descending order: ascending on the flipped axis, flipped back
        places = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(key, axis), axis=axis, kind="stable"), axis)
    else:
        places = np.argsort(key, axis=axis, kind="stable")
    places = np.take(places, range(k), axis=axis)
    got = run(case_server, mode, "TopK", [x, np.array([k], np.int64)], {"axis": axis, "largest": int(largest)}, outputs=2, dynamic=seed % 2 == 0)
    assert_close(got[1], places.astype(np.int64), what="TopK indices")
    assert_close(got[0], np.take_along_axis(x, places, axis), what="TopK values")


@pytest.mark.parametrize("operator", ["CumSum", "CumProd"])
@REPEATABLE
@given(data=st.data(), mode=modes, shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9), seed=seeds, exclusive=st.booleans(), reverse=st.booleans())
def test_cumulative(operator, case_server, data, mode, shape, seed, exclusive, reverse):
    dtype = data.draw(st.sampled_from(dtypes(operator)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(dtype, shape, seed, specials=is_integer(dtype))
    wide = x.astype(np.float64) if is_float(dtype) else x
    wide = np.flip(wide, axis) if reverse else wide
    with np.errstate(all="ignore"):
        function = np.cumsum if operator == "CumSum" else np.cumprod
        want = function(wide, axis=axis, dtype=wide.dtype)
        if exclusive:
            start = np.full_like(np.take(wide, [0] if shape[axis] else [], axis=axis), 0 if operator == "CumSum" else 1)
            want = np.concatenate([start, np.take(want, range(max(shape[axis] - 1, 0)), axis=axis)], axis=axis)
        want = (np.flip(want, axis) if reverse else want).astype(dtype)
    got = run(case_server, mode, operator, [x, np.array(axis, np.int64)], {"exclusive": int(exclusive), "reverse": int(reverse)}, dynamic=seed % 2 == 0)[0]
    assert_close(got, want, ulps=0 if is_integer(dtype) else 1, rtol=0 if is_integer(dtype) else 1e-13, atol=1e-13 if is_float(dtype) else 0, what=operator)


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
@REPEATABLE
@given(data=st.data(), mode=modes, shape=hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9), seed=seeds, specials=st.booleans())
def test_softmax(operator, case_server, data, mode, shape, seed, specials):
    dtype = data.draw(st.sampled_from(dtypes(operator)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(dtype, shape, seed, specials)
    if x.size == 0:
        want = x
    else:
        with np.errstate(all="ignore"):
            wide = x.astype(np.float64)
            if operator == "Hardmax":
                want = np.zeros(shape)
                np.put_along_axis(want, np.expand_dims(np.argmax(wide, axis=axis), axis), 1, axis=axis)
            elif operator == "Softmax":
                want = softmax(wide, axis)
            else:
                shifted = wide - np.max(wide, axis=axis, keepdims=True)
                want = shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
            want = want.astype(dtype)
    got = run(case_server, mode, operator, [x], {"axis": axis}, dynamic=seed % 2 == 0)[0]
    fast = mode == "engine" and dtype == np.float32
    assert_close(got, want, ulps=4 if dtype == np.float64 else 1, rtol=1e-5 if fast else 1e-14, atol=1e-6 if fast else 1e-15, what=operator)
