# SPDX-License-Identifier: Apache-2.0
"""Gather, Scatter, Slice, Pad and all that moves elements against numpy: every type, negative steps, axes and indices, axes of size
0, indices out of range; by the reference and by an engine of level 0. Seeds are fixed, so a failure repeats."""
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from case_server import RotaError, one_node
from case_values import assert_close, dtypes, is_complex, is_float, values

REPEATABLE = settings(derandomize=True, database=None, deadline=None, max_examples=50)
modes = st.sampled_from(["reference", "reference", "engine"])
seeds = st.integers(0, 2**32 - 1)
shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6)
filled = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6)


def run(server, mode, operator, inputs, attributes=None, **options):
    model, given_inputs, ranges = one_node(operator, inputs, attributes, **options)
    return server.run(model, [given_inputs], mode, ranges)[0]


def same(got, want, what):
    """The same bits, as far as numpy tells: moved elements are not rounded."""
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, f"{what}: {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    assert got.tobytes() == np.ascontiguousarray(want).tobytes(), f"{what}: {got} expected {want}"


def element_type(data, operator, variable="T"):
    return data.draw(st.sampled_from(dtypes(operator, variable)))


def index_values(shape, size, seed, dtype=np.int64):
    """Indices of an axis, half of them counted from its end."""
    return values(dtype, shape, seed, low=-size, high=size - 1)


index_types = st.sampled_from([np.int64, np.int32])


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=filled, places=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), kind=index_types)
def test_gather(case_server, data, mode, seed, shape, places, kind):
    x = values(element_type(data, "Gather"), shape, seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    indices = index_values(places, shape[axis], seed, kind)
    same(run(case_server, mode, "Gather", [x, indices], {"axis": axis}, dynamic=seed % 2 == 0)[0], np.take(x, indices, axis=axis), "Gather")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=filled, kind=index_types)
def test_gather_elements(case_server, data, mode, seed, shape, kind):
    x = values(element_type(data, "GatherElements"), shape, seed)
    axis = data.draw(st.integers(0, len(shape) - 1))
    places = tuple(data.draw(st.integers(0, n + (2 if d == axis else 0))) for d, n in enumerate(shape))
    indices = index_values(places, shape[axis], seed, kind)
    part = x[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(places))]
    same(run(case_server, mode, "GatherElements", [x, indices], {"axis": axis - len(shape) if seed % 2 else axis}, dynamic=seed % 2 == 0)[0],
         np.take_along_axis(part, indices.astype(np.int64), axis), "GatherElements")


def tuples_of(data, shape, seed, batch=0):
    """(indices, number of coordinates): tuples of coordinates for GatherND and ScatterND."""
    length = data.draw(st.integers(1, len(shape) - batch))
    places = shape[:batch] + data.draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3))
    parts = [index_values(places, shape[batch + i], seed + i) for i in range(length)]
    return np.stack(parts, axis=-1), length


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=filled)
def test_gather_nd(case_server, data, mode, seed, shape):
    batch = data.draw(st.integers(0, len(shape) - 1))
    x = values(element_type(data, "GatherND"), shape, seed)
    indices, length = tuples_of(data, shape, seed, batch)
    want = np.empty((*indices.shape[:-1], *shape[batch + length:]), x.dtype)
    for place in np.ndindex(*indices.shape[:-1]):
        want[place] = x[place[:batch] + tuple(indices[place])]
    same(run(case_server, mode, "GatherND", [x, indices], {"batch_dims": batch}, dynamic=seed % 2 == 0)[0], want, "GatherND")


COMBINE = {"none": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "min": np.minimum, "max": np.maximum}


def scatter_type(data, operator):
    """(type, reduction): numbers below 32 bits are moved only, as numpy rounds them otherwise."""
    dtype = element_type(data, operator)
    computes = not (dtype == bool or is_complex(dtype) or (is_float(dtype) and dtype.itemsize < 4))
    return dtype, data.draw(st.sampled_from(sorted(COMBINE))) if computes else "none"


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=filled, kind=index_types)
def test_scatter_elements(case_server, data, mode, seed, shape, kind):
    """Updates are taken one after the other: the last of equal places wins."""
    dtype, reduction = scatter_type(data, "ScatterElements")
    x = values(dtype, shape, seed)
    axis = data.draw(st.integers(0, len(shape) - 1))
    places = tuple(data.draw(st.integers(0, n)) for n in shape)
    indices, updates = index_values(places, shape[axis], seed, kind), values(dtype, places, seed + 1)
    want = x.copy()
    with np.errstate(all="ignore"):
        for place in np.ndindex(*places):
            at = tuple(int(indices[place]) if d == axis else i for d, i in enumerate(place))
            want[at] = COMBINE[reduction](want[at], updates[place])
    got = run(case_server, mode, "ScatterElements", [x, indices, updates], {"axis": axis, "reduction": reduction}, dynamic=seed % 2 == 0)[0]
    assert_close(got, want, what="ScatterElements")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=filled)
def test_scatter_nd(case_server, data, mode, seed, shape):
    dtype, reduction = scatter_type(data, "ScatterND")
    x = values(dtype, shape, seed)
    indices, length = tuples_of(data, shape, seed)
    updates = values(dtype, (*indices.shape[:-1], *shape[length:]), seed + 1)
    want = x.copy()
    with np.errstate(all="ignore"):
        for place in np.ndindex(*indices.shape[:-1]):
            at = tuple(indices[place])
            want[at] = COMBINE[reduction](want[at], updates[place])
    got = run(case_server, mode, "ScatterND", [x, indices, updates], {"reduction": reduction}, dynamic=seed % 2 == 0)[0]
    assert_close(got, want, what="ScatterND")


INDEX_CASES = {
    "Gather": ([np.ones((2, 3), np.float32), None], {"axis": 1}),
    "GatherElements": ([np.ones((2, 3), np.float32), None], {"axis": 1}),
    "GatherND": ([np.ones((3,), np.float32), None], {}),
    "ScatterElements": ([np.ones((2, 3), np.float32), None, np.ones((1, 1), np.float32)], {"axis": 1}),
    "ScatterND": ([np.ones((3,), np.float32), None, np.ones((1,), np.float32)], {}),
}


@pytest.mark.parametrize("mode", ["reference", "engine", "generic"])
@pytest.mark.parametrize("index", [3, -4, 2**40, -(2**63)])
@pytest.mark.parametrize("operator", INDEX_CASES)
def test_an_index_out_of_range_names_the_node(operator, index, mode, case_server):
    """Never a read outside: the run fails and says which node, which index and what is allowed."""
    inputs, attributes = INDEX_CASES[operator]
    indices = np.array([[index]], np.int64)
    with pytest.raises(RotaError, match="node") as error:
        run(case_server, mode, operator, [indices if value is None else value for value in inputs], attributes)
    assert str(index) in str(error.value), error.value


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes, kind=index_types)
def test_slice(case_server, data, mode, seed, shape, kind):
    """Starts and ends beyond the axis are clamped; negative steps walk back; the ends of the integer range are legal."""
    x = values(element_type(data, "Slice"), shape, seed)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    info = np.iinfo(kind)
    places = st.integers(-9, 9) | st.sampled_from([int(info.min), int(info.max)])
    starts, ends = ([data.draw(places) for _ in axes] for _ in range(2))
    steps = [data.draw(st.integers(-4, -1) | st.integers(1, 4) | st.sampled_from([int(info.min) + 1, int(info.max)])) for _ in axes]
    cut = [slice(None)] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps):
        n = shape[axis]
        low, high = (0, n) if step > 0 else (-1, n - 1)
        first = min(max(start + n if start < 0 else start, max(low, 0) if step > 0 else low), high)
        last = min(max(end + n if end < 0 else end, low), high)
        cut[axis] = list(range(first, last, step)) if (first < last) == (step > 0) else []
    want = x
    for axis in axes:
        want = np.take(want, np.array(cut[axis], np.int64), axis=axis)
    written = [a - len(shape) if (seed >> a) & 1 else a for a in axes]
    inputs = [x, *(np.array(v, kind) for v in (starts, ends, written, steps))]
    same(run(case_server, mode, "Slice", inputs, fixed=() if seed % 3 == 0 else {1, 2, 3, 4}, dynamic=seed % 2 == 0)[0], want, "Slice")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), depth=st.integers(1, 5))
def test_one_hot(case_server, data, mode, seed, shape, depth):
    """Indices outside [-depth, depth) give a row of off-values."""
    kind, on = data.draw(st.sampled_from([d for d in dtypes("OneHot", "T1") if d.itemsize > 1 or d.kind != "u"])), element_type(data, "OneHot", "T3")
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    indices = values(kind, shape, seed, low=-depth - 2, high=depth + 2)
    indices = np.rint(indices.astype(np.float64)).astype(kind)
    pair = values(on, (2,), seed + 1)
    whole = indices.astype(np.int64)
    hit = np.expand_dims(np.where(whole < 0, whole + depth, whole), axis) == np.arange(depth).reshape([-1 if d == axis % (len(shape) + 1) else 1 for d in range(len(shape) + 1)])
    same(run(case_server, mode, "OneHot", [indices, np.array(depth, np.int64), pair], {"axis": axis}, fixed={1})[0], np.where(hit, pair[1], pair[0]), "OneHot")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes, negative=st.booleans(), way=st.sampled_from(["constant", "edge", "reflect", "wrap"]))
def test_pad(case_server, data, mode, seed, shape, negative, way):
    x = values(element_type(data, "Pad"), shape, seed)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    pads = {}
    for axis in axes:
        n = shape[axis]
        most = 4 if way == "constant" else 0 if n == 0 else n - 1 if way == "reflect" else n
        pads[axis] = (data.draw(st.integers(0, most)), data.draw(st.integers(0, most)))
    full = [pads.get(d, (0, 0)) for d in range(len(shape))]
    fill = values(x.dtype, (), seed + 1) if way == "constant" else None
    if way == "constant":
        want = np.full([n + a + b for n, (a, b) in zip(shape, full)], fill, x.dtype)
        want[tuple(slice(a, a + n) for n, (a, _) in zip(shape, full))] = x
        if negative and all(n > 1 for n in shape):  # a negative pad cuts
            axis = axes[0]
            pads[axis] = (-1, pads[axis][1])
            want = np.take(want, range(full[axis][0] + 1, want.shape[axis]), axis=axis)
    elif all(n > 0 for n in shape):
        want = np.pad(x, full, mode=way)
    else:
        return
    numbers = np.array([pads[a][0] for a in axes] + [pads[a][1] for a in axes], np.int64)
    same(run(case_server, mode, "Pad", [x, numbers, fill, np.array(axes, np.int64)], {"mode": way}, fixed={1, 3}, dynamic=seed % 2 == 0)[0], want, f"Pad {way}")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes, count=st.integers(1, 4))
def test_concat_and_split(case_server, data, mode, seed, shape, count):
    dtype = element_type(data, "Concat")
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    lengths = [data.draw(st.integers(0, 4)) for _ in range(count)]
    parts = []
    for i, length in enumerate(lengths):
        dims = list(shape)
        dims[axis] = length
        parts.append(values(dtype, dims, seed + i))
    whole = np.concatenate(parts, axis=axis)
    same(run(case_server, mode, "Concat", parts, {"axis": axis}, dynamic=seed % 2 == 0)[0], whole, "Concat")
    got = run(case_server, mode, "Split", [whole, np.array(lengths, np.int64)], {"axis": axis}, outputs=count, fixed={1}, dynamic=seed % 2 == 0)
    for part, found in zip(parts, got):
        same(found, part, "Split")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, length=st.integers(0, 13), count=st.integers(1, 5))
def test_split_evenly(case_server, data, mode, seed, length, count):
    """num_outputs: all of one size, the last one smaller."""
    x = values(element_type(data, "Split"), (2, length), seed)
    size = -(-length // count)
    if size * (count - 1) > length:
        return
    got = run(case_server, mode, "Split", [x], {"axis": 1, "num_outputs": count}, outputs=count)
    for i, found in enumerate(got):
        same(found, x[:, i * size:(i + 1) * size], "Split")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5))
def test_transpose(case_server, data, mode, seed, shape):
    x = values(element_type(data, "Transpose"), shape, seed)
    order = data.draw(st.none() | st.permutations(range(len(shape))))
    same(run(case_server, mode, "Transpose", [x], {} if not order else {"perm": list(order)}, dynamic=seed % 2 == 0)[0], np.transpose(x, order or None), "Transpose")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6), allow=st.booleans())
def test_reshape(case_server, data, mode, seed, shape, allow):
    """0 keeps a size, -1 finds one, in any order that holds the elements."""
    x = values(element_type(data, "Reshape"), shape, seed)
    target = list(data.draw(st.permutations(shape)))
    join = data.draw(st.integers(0, len(target)))
    if join and join < len(target):
        target[join - 1:join + 1] = [target[join - 1] * target[join]]
    written = list(target)
    if not allow:
        written = [0 if d < len(shape) and shape[d] == n and (seed >> d) & 1 else n for d, n in enumerate(written)]
    if seed % 3:
        written[data.draw(st.integers(0, len(written) - 1))] = -1
    got = run(case_server, mode, "Reshape", [x, np.array(written, np.int64)], {"allowzero": int(allow)}, fixed={1} if seed % 5 else ())[0]
    same(got, x.reshape(target), "Reshape")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), more=st.integers(0, 2))
def test_expand_and_tile(case_server, data, mode, seed, shape, more):
    target = data.draw(hnp.broadcastable_shapes(shape, max_dims=len(shape) + more, min_side=0, max_side=4))
    x = values(element_type(data, "Expand"), shape, seed)
    want = np.broadcast_to(x, np.broadcast_shapes(shape, target))
    same(run(case_server, mode, "Expand", [x, np.array(target, np.int64)], fixed={1} if seed % 3 else (), dynamic=seed % 2 == 0)[0], want, "Expand")
    repeats = np.array([data.draw(st.integers(0, 3)) for _ in shape], np.int64)
    same(run(case_server, mode, "Tile", [x, repeats], fixed={1} if seed % 3 else (), dynamic=seed % 2 == 0)[0], np.tile(x, repeats) if shape else x, "Tile")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes)
def test_squeeze_and_unsqueeze(case_server, data, mode, seed, shape):
    x = values(element_type(data, "Unsqueeze"), shape, seed)
    rank = len(shape) + data.draw(st.integers(1, 3))
    axes = data.draw(st.permutations(range(rank)))[:rank - len(shape)]
    written = np.array([a - rank if (seed >> a) & 1 else a for a in axes], np.int64)
    wide = np.expand_dims(x, tuple(axes))
    same(run(case_server, mode, "Unsqueeze", [x, written], fixed={1}, dynamic=seed % 2 == 0)[0], wide, "Unsqueeze")
    same(run(case_server, mode, "Squeeze", [wide, written], fixed={1}, dynamic=seed % 2 == 0)[0], x, "Squeeze")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes)
def test_non_zero_and_compress(case_server, data, mode, seed, shape):
    x = values(element_type(data, "NonZero"), shape, seed)
    same(run(case_server, mode, "NonZero", [x], dynamic=seed % 2 == 0)[0], np.array(np.nonzero(x), np.int64).reshape(len(shape), -1), "NonZero")
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    size = x.size if axis is None else shape[axis]
    keep = values(bool, (data.draw(st.integers(0, size)),), seed + 1)
    same(run(case_server, mode, "Compress", [x, keep], {} if axis is None else {"axis": axis})[0], np.compress(keep, x, axis=axis), "Compress")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=6), k=st.integers(-7, 7), upper=st.booleans())
def test_trilu(case_server, data, mode, seed, shape, k, upper):
    x = values(element_type(data, "Trilu"), shape, seed)
    mask = (np.tri(shape[-2], shape[-1], k - 1, dtype=bool) ^ True) if upper else np.tri(shape[-2], shape[-1], k, dtype=bool)
    same(run(case_server, mode, "Trilu", [x, np.array(k, np.int64)], {"upper": int(upper)}, dynamic=seed % 2 == 0)[0], np.where(mask, x, np.zeros((), x.dtype)), "Trilu")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=hnp.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=6))
def test_reverse_sequence(case_server, data, mode, seed, shape):
    x = values(element_type(data, "ReverseSequence"), shape, seed)
    time = seed % 2
    lengths = values(np.int64, (shape[1 - time],), seed + 1, low=1, high=shape[time])
    want = x.copy()
    for b, length in enumerate(lengths):
        at = (slice(length), b) if time == 0 else (b, slice(length))
        want[at] = x[at][::-1] if time == 1 else np.flip(x[at], 0)
    same(run(case_server, mode, "ReverseSequence", [x, lengths], {"time_axis": time, "batch_axis": 1 - time}, dynamic=seed % 3 == 0)[0], want, "ReverseSequence")
