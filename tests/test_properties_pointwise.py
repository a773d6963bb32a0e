# SPDX-License-Identifier: Apache-2.0
"""Pointwise operators against numpy: every type that an operator allows, broadcast shapes with axes of size 0 and rank 0, special
values; by the reference, exact to the last place, and by an engine of level 0. Seeds are fixed, so a failure repeats."""
import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from case_server import one_node
from case_values import assert_close, dtypes, is_float, is_integer, values

REPEATABLE = settings(derandomize=True, database=None, deadline=None, max_examples=16)
# Float32 kernels of engines approximate functions by polynomials.
ENGINE = {"rtol": 1e-5, "atol": 1e-6}


def elementwise(function):
    return np.vectorize(function, otypes=[np.float64])


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


def softplus(x):
    return np.logaddexp(0, x)


f32 = np.float32
UNARY = {  # operator: (function in double precision, attributes)
    "Abs": (np.abs, {}), "Neg": (np.negative, {}), "Sign": (np.sign, {}), "Ceil": (np.ceil, {}), "Floor": (np.floor, {}), "Round": (np.rint, {}),
    "Acos": (np.arccos, {}), "Acosh": (np.arccosh, {}), "Asin": (np.arcsin, {}), "Asinh": (np.arcsinh, {}), "Atan": (np.arctan, {}), "Atanh": (np.arctanh, {}),
    "Cos": (np.cos, {}), "Cosh": (np.cosh, {}), "Sin": (np.sin, {}), "Sinh": (np.sinh, {}), "Tan": (np.tan, {}), "Tanh": (np.tanh, {}),
    "Exp": (np.exp, {}), "Log": (np.log, {}), "Sqrt": (np.sqrt, {}), "Reciprocal": (lambda x: 1 / x, {}), "Erf": (elementwise(math.erf), {}),
    "Sigmoid": (sigmoid, {}), "Softplus": (softplus, {}), "Softsign": (lambda x: x / (1 + np.abs(x)), {}),
    "Relu": (lambda x: np.where(x < 0, 0, x), {}),
    "LeakyRelu": (lambda x: np.where(x < 0, f32(0.3) * np.float64(x), x), {"alpha": 0.3}),
    "Elu": (lambda x: np.where(x < 0, f32(0.7) * np.expm1(np.minimum(x, 0)), x), {"alpha": 0.7}),
    "Selu": (lambda x: f32(1.2) * np.where(x <= 0, f32(0.7) * np.expm1(np.minimum(x, 0)), x), {"alpha": 0.7, "gamma": 1.2}),
    "Celu": (lambda x: np.maximum(0, x) + np.minimum(0, f32(0.7) * np.expm1(x / f32(0.7))), {"alpha": 0.7}),
    "HardSigmoid": (lambda x: np.clip(np.float64(f32(0.3)) * x + f32(0.4), 0, 1), {"alpha": 0.3, "beta": 0.4}),
    "HardSwish": (lambda x: x * (np.clip(x / 6 + 0.5, 0, 1)), {}),
    "Gelu": (lambda x: x * (0.5 * elementwise(math.erfc)(-x * math.sqrt(0.5))), {}),
    "Mish": (lambda x: x * (np.tanh(softplus(x))), {}),
    "Swish": (lambda x: x * (sigmoid(np.float64(f32(1.3)) * x)), {"alpha": 1.3}),
    "ThresholdedRelu": (lambda x: np.where(x > f32(0.8), x, 0), {"alpha": 0.8}),
    "Shrink": (lambda x: np.where(x < -f32(0.6), x + f32(0.2), np.where(x > f32(0.6), x - f32(0.2), 0)), {"lambd": 0.6, "bias": 0.2}),
    "IsNaN": (np.isnan, {}), "IsInf": (lambda x: np.isposinf(x), {"detect_negative": 0}),
}
VARIABLES = {"IsNaN": "T1", "IsInf": "T1"}


def run(server, mode, operator, inputs, attributes=None, **options):
    model, given_inputs, ranges = one_node(operator, inputs, attributes, **options)
    return server.run(model, [given_inputs], mode, ranges)[0]


def in_double(function, dtype, *arrays):
    """What a kernel that computes in double and rounds once must give."""
    with np.errstate(all="ignore"):
        result = function(*(a.astype(np.float64) for a in arrays))
        return np.asarray(result) if np.asarray(result).dtype == bool else np.asarray(result, np.float64).astype(dtype)


modes = st.sampled_from(["reference", "reference", "engine"])
seeds = st.integers(0, 2**32 - 1)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)


def tolerance(mode, dtype):
    """Libraries of functions differ in the last place; a narrow type may also be rounded twice by numpy."""
    return ENGINE if mode == "engine" and dtype == np.float32 else {"ulps": 4 if dtype == np.float64 else 1}


@pytest.mark.parametrize("operator", UNARY)
@REPEATABLE
@given(data=st.data(), mode=modes, shape=shapes, seed=seeds)
def test_unary(operator, case_server, data, mode, shape, seed):
    function, attributes = UNARY[operator]
    dtype = data.draw(st.sampled_from(dtypes(operator, VARIABLES.get(operator, "T"))))
    x = values(dtype, shape, seed)
    if is_integer(dtype):  # in the type itself: the most negative number stays what it is
        with np.errstate(all="ignore"):
            want = np.asarray(function(x)).astype(dtype)
    else:
        want = in_double(function, dtype, x)
    assert_close(run(case_server, mode, operator, [x], attributes, dynamic=seed % 2 == 0)[0], want, **tolerance(mode, dtype), what=operator)


def truncated_quotient(a, b):
    floor = a // b
    return floor + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def shift(a, b, left):
    bits = a.dtype.itemsize * 8
    out = (b < 0) | (b >= bits)
    amount = np.where(out, 0, b).astype(a.dtype)
    beyond = np.zeros_like(a) if left else np.where(a < 0, -1, 0).astype(a.dtype)
    return np.where(out, beyond, np.left_shift(a, amount) if left else np.right_shift(a, amount))


BINARY = {  # operator, as: (float function, integer function or None, attributes)
    "Add": (np.add, np.add, {}), "Sub": (np.subtract, np.subtract, {}), "Mul": (np.multiply, np.multiply, {}),
    "Div": (np.divide, truncated_quotient, {}), "Mod": (np.mod, np.mod, {}), "Mod fmod": (np.fmod, np.fmod, {"fmod": 1}),
    "PRelu": (lambda x, s: np.where(x < 0, s * x, x), lambda x, s: np.where(x < 0, s * x, x), {}),
    "Equal": (np.equal, np.equal, {}), "Greater": (np.greater, np.greater, {}), "GreaterOrEqual": (np.greater_equal, np.greater_equal, {}),
    "Less": (np.less, np.less, {}), "LessOrEqual": (np.less_equal, np.less_equal, {}),
    "And": (None, np.logical_and, {}), "Or": (None, np.logical_or, {}), "Xor": (None, np.logical_xor, {}),
    "BitwiseAnd": (None, np.bitwise_and, {}), "BitwiseOr": (None, np.bitwise_or, {}), "BitwiseXor": (None, np.bitwise_xor, {}),
    "BitShift left": (None, lambda a, b: shift(a, b, True), {"direction": "LEFT"}), "BitShift right": (None, lambda a, b: shift(a, b, False), {"direction": "RIGHT"}),
}


@pytest.mark.parametrize("name", BINARY)
@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds)
def test_binary(name, case_server, data, mode, seed):
    operator = name.split()[0]
    of_floats, of_integers, attributes = BINARY[name]
    dtype = data.draw(st.sampled_from(dtypes(operator)))
    if operator == "Mod" and is_float(dtype):
        attributes = {"fmod": 1}  # the standard wants it for floats
        of_floats = np.fmod
    shape, other = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=0, max_dims=4, min_side=0, max_side=6)).input_shapes
    if operator == "PRelu":  # the slope broadcasts to x, not the reverse
        shape = np.broadcast_shapes(shape, other)
        assert len(shape) >= len(other)
    a, b = values(dtype, shape, seed), values(dtype, other, seed + 1)
    if operator in ("Div", "Mod") and not is_float(dtype):
        b[b == 0] = 3
    if operator == "BitShift":
        b = values(dtype, other, seed + 1, low=-2, high=70)
    with np.errstate(all="ignore"):
        want = in_double(of_floats, dtype, a, b) if is_float(dtype) else np.asarray(of_integers(a, b))
    got = run(case_server, mode, operator, [a, b], attributes, dynamic=seed % 2 == 0)[0]
    assert_close(got, want.astype(bool if want.dtype == bool else dtype), **tolerance(mode, dtype), what=name)


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds)
def test_pow(case_server, data, mode, seed):
    dtype, power = data.draw(st.sampled_from(dtypes("Pow"))), data.draw(st.sampled_from(dtypes("Pow", "T1")))
    shape, other = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=0, max_dims=3, min_side=0, max_side=6)).input_shapes
    if is_float(dtype):
        a, b = values(dtype, shape, seed), values(power, other, seed + 1)
        want = in_double(np.power, dtype, a, b)
    else:  # wraps; exponents that are whole and not negative
        a, b = values(dtype, shape, seed), np.round(values(power, other, seed + 1, low=0, high=7).astype(np.float64)).astype(power)
        with np.errstate(all="ignore"):
            want = np.power(a.astype(np.int64), b.astype(np.float64).astype(np.int64)).astype(dtype)
    assert_close(run(case_server, mode, "Pow", [a, b])[0], want, **tolerance(mode, dtype), what="Pow")


@pytest.mark.parametrize("operator", ["Max", "Min", "Sum", "Mean"])
@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, count=st.integers(1, 4))
def test_variadic(operator, case_server, data, mode, seed, count):
    dtype = data.draw(st.sampled_from(dtypes(operator)))
    drawn = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=count, min_dims=0, max_dims=3, min_side=0, max_side=6)).input_shapes
    inputs = [values(dtype, shape, seed + i) for i, shape in enumerate(drawn)]
    function = {"Max": np.maximum, "Min": np.minimum, "Sum": np.add, "Mean": np.add}[operator]

    def fold(*arrays):
        result = arrays[0]
        for array in arrays[1:]:
            result = function(result, array)
        return result / len(arrays) if operator == "Mean" else result

    want = in_double(fold, dtype, *inputs) if is_float(dtype) else np.asarray(fold(*inputs))
    assert_close(run(case_server, mode, operator, inputs)[0], want, **tolerance(mode, dtype), what=operator)


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes, bounds=st.tuples(st.booleans(), st.booleans()))
def test_clip(case_server, data, mode, seed, shape, bounds):
    """Max wins over min where they cross; NaN stays."""
    dtype = data.draw(st.sampled_from(dtypes("Clip")))
    x = values(dtype, shape, seed)
    low, high = (values(dtype, (), seed + 1 + i, specials=False) if given_ else None for i, given_ in enumerate(bounds))
    want = x if low is None else np.maximum(x, low)
    want = want if high is None else np.minimum(want, high)
    assert_close(run(case_server, mode, "Clip", [x, low, high])[0], np.asarray(want).astype(dtype), what="Clip")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds)
def test_where(case_server, data, mode, seed):
    dtype = data.draw(st.sampled_from(dtypes("Where")))
    c, a, b = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=3, min_dims=0, max_dims=4, min_side=0, max_side=5)).input_shapes
    condition, x, y = values(bool, c, seed), values(dtype, a, seed + 1), values(dtype, b, seed + 2)
    assert_close(run(case_server, mode, "Where", [condition, x, y], dynamic=seed % 2 == 0)[0], np.where(condition, x, y), what="Where")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes)
def test_not(case_server, data, mode, seed, shape):
    x = values(bool, shape, seed)
    assert_close(run(case_server, mode, "Not", [x])[0], np.asarray(~x), what="Not")
    y = values(data.draw(st.sampled_from(dtypes("BitwiseNot"))), shape, seed)
    assert_close(run(case_server, mode, "BitwiseNot", [y])[0], np.asarray(np.invert(y)), what="BitwiseNot")


@settings(REPEATABLE, max_examples=150)
@given(data=st.data(), mode=modes, seed=seeds, shape=shapes)
def test_cast(case_server, data, mode, seed, shape):
    """Between any two types, where the standard says what comes out: floats round to nearest even, integers wrap, anything
    but zero is true, and a float that becomes an integer fits it (towards zero)."""
    from onnx import helper
    known = [d for d in dtypes("Cast", "T1") if d.itemsize > 1 or d.kind in "biu"]
    source, target = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(known))
    x = values(source, shape, seed)
    with np.errstate(all="ignore"):
        if is_float(source) and is_integer(target):
            low, high = max(-100, int(np.iinfo(target).min)), 100
            x = values(source, shape, seed, low=low, high=high)
            want = np.trunc(x.astype(np.float64)).astype(target)
        elif is_float(target) and target.kind != "f":
            x = values(source, shape, seed, specials=False)  # numpy rounds to bfloat16 through float32
            want = x.astype(np.float32).astype(target)
        else:
            want = x.astype(target)
    got = run(case_server, mode, "Cast", [x], {"to": helper.np_dtype_to_tensor_dtype(target)})[0]
    assert_close(got, np.asarray(want), ulps=1 if target.itemsize == 2 and is_float(target) else 0, what=f"{source} to {target}")
