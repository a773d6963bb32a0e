# SPDX-License-Identifier: Apache-2.0
"""Element types of operators, values that find faults, and comparison in units of the last place, for tests against numpy."""
import ml_dtypes
import numpy as np
from onnx import TensorProto, defs, helper

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NAMES = {"float": "FLOAT", "double": "DOUBLE"}


def dtypes(operator, variable="T", opset=defs.onnx_opset_version()):
    """The numpy types that an operator allows for a type variable in an operator set; no strings."""
    schema = defs.get_schema(operator, opset)
    allowed = next(t.allowed_type_strs for t in schema.type_constraints if t.type_param_str == variable)
    names = sorted(text[len("tensor("):-1] for text in allowed if text.startswith("tensor(") and text != "tensor(string)")
    return [np.dtype(helper.tensor_dtype_to_np_dtype(getattr(TensorProto, NAMES.get(name, name.upper())))) for name in names]


def is_float(dtype):
    return np.dtype(dtype).kind == "f" or "float" in np.dtype(dtype).name


def is_complex(dtype):
    return np.dtype(dtype).kind == "c"


def is_integer(dtype):
    return not is_float(dtype) and not is_complex(dtype) and np.dtype(dtype) != bool


def limits(dtype):
    return ml_dtypes.finfo(dtype) if is_float(dtype) else ml_dtypes.iinfo(dtype)


def special(dtype):
    """The values at which kernels go wrong."""
    dtype = np.dtype(dtype)
    if dtype == bool:
        return np.array([True, False])
    if is_complex(dtype):
        return np.array([0, 1, -1j, np.inf, np.nan], dtype)
    info = limits(dtype)
    if is_integer(dtype):
        return np.array([dtype.type(v) for v in (int(info.min), int(info.max), int(info.max) - 1, 0, 1, max(int(info.min), -1))], dtype)
    eps, tiny = float(info.eps), float(info.smallest_subnormal)
    return np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1 + eps, float(info.max), -float(info.max), tiny, -tiny, np.inf, -np.inf, np.nan], np.float64).astype(dtype)


def values(dtype, shape, seed, specials=True, low=None, high=None):
    """Random elements: small numbers, and every few a special one or (integers) one from the whole range. With `low` and `high`
    only numbers between them."""
    dtype, generator = np.dtype(dtype), np.random.default_rng(seed)
    if low is not None:
        if is_integer(dtype):
            info = limits(dtype)
            return generator.integers(max(low, int(info.min)), min(high, int(info.max)), shape, endpoint=True).astype(dtype)
        return generator.uniform(low, high, shape).astype(dtype)
    if dtype == bool:
        return generator.integers(0, 2, shape).astype(bool)
    if is_complex(dtype):
        result = (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(dtype)
    elif is_float(dtype):
        result = np.asarray(generator.standard_normal(shape) * 3).astype(dtype)
    else:
        info = limits(dtype)
        unsigned = info.min == 0
        small = generator.integers(0 if unsigned else -3, min(4, int(info.max) + 1), shape)
        bits = generator.integers(0, 1 << 63, shape, dtype=np.uint64, endpoint=True) << np.uint64(1)
        wide = (bits >> np.uint64(max(64 - dtype.itemsize * 8, 0))).astype(np.uint64).astype(dtype) if dtype.itemsize * 8 >= 8 and dtype.kind in "iu" else small
        result = np.where(generator.random(shape) < 0.5, small.astype(dtype), wide.astype(dtype))
        result = np.asarray(result).astype(dtype)
    if specials:
        table = special(dtype)
        chosen = generator.random(shape) < 0.25
        result = np.where(chosen, table[generator.integers(0, len(table), shape)], result).astype(dtype)
    return result


def order(array):
    """Floats as integers in the order of their values, one apart from one value to the next; both zeros are 0."""
    bits = array.dtype.itemsize * 8
    raw = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
    sign = raw < 0
    magnitude = raw & ((1 << (bits - 1)) - 1)
    return np.where(sign, -magnitude, magnitude)


def assert_close(got, want, ulps=0, rtol=0.0, atol=0.0, what=""):
    """The same type, shape and elements, NaN at the same places; floats may be off by `ulps` units in the last place, or by the
    tolerances (0: equal, where 0 and -0 count as one)."""
    want = np.asarray(want)
    assert got.dtype == want.dtype, f"{what}: type {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if not is_float(want.dtype) and not is_complex(want.dtype):
        good = np.asarray(got == want)
    else:
        wide = np.complex128 if is_complex(want.dtype) else np.float64
        a, b = got.astype(wide), want.astype(wide)
        with np.errstate(all="ignore"):
            good = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b)) if rtol or atol else False)
        if ulps and wide is np.float64:
            good |= ~np.isnan(a) & ~np.isnan(b) & (np.abs(order(got) - order(want)) <= ulps)
    if good.all():
        return
    place = tuple(int(i) for i in np.argwhere(~good)[0])
    raise AssertionError(f"{what}: {(~good).sum()} of {good.size} elements of {want.dtype}{list(want.shape)} differ, first at {place}: {got[place]!r}, expected {want[place]!r}")
