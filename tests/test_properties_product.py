# SPDX-License-Identifier: Apache-2.0
"""MatMul, Gemm and Einsum against numpy: all types, ranks, broadcast batches, transposes, empty sums; by the reference and by an
engine of level 0. Seeds are fixed, so a failure repeats."""
import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from case_server import one_node
from case_values import assert_close, dtypes, is_float, limits, values

REPEATABLE = settings(derandomize=True, database=None, deadline=None, max_examples=120)
modes = st.sampled_from(["reference", "reference", "engine"])
seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([0, 1, 2, 3, 5, 8, 17])


def run(server, mode, operator, inputs, attributes=None, **options):
    model, given_inputs, ranges = one_node(operator, inputs, attributes, **options)
    return server.run(model, [given_inputs], mode, ranges)[0]


def wide(*arrays):
    """In double, or in the integer type, which wraps."""
    return [a.astype(np.float64) if is_float(a.dtype) else a for a in arrays]


def check(got, want, dtype, mode, terms, what):
    """Rounded once from double; engines add up in float32."""
    if not is_float(dtype):
        assert_close(got, np.asarray(want).astype(dtype), what=what)
        return
    fast = mode == "engine"
    eps = float(limits(dtype).eps)
    rtol = max(eps, 1.2e-7) * (2 + terms) if fast else eps
    assert_close(got, np.asarray(want).astype(dtype), ulps=1, rtol=rtol, atol=(60 * max(1.2e-7, eps if fast else 0) * (1 + terms)) if fast else 1e-13, what=what)


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, m=sizes, k=sizes, n=sizes)
def test_matmul(case_server, data, mode, seed, m, k, n):
    dtype = data.draw(st.sampled_from(dtypes("MatMul")))
    left, right = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=0, max_dims=2, min_side=0, max_side=3)).input_shapes
    vectors = data.draw(st.sampled_from(["none", "left", "right", "both"]))
    a = values(dtype, (k,) if vectors in ("left", "both") else (*left, m, k), seed, specials=not is_float(dtype))
    b = values(dtype, (k,) if vectors in ("right", "both") else (*right, k, n), seed + 1, specials=not is_float(dtype))
    with np.errstate(all="ignore"):
        want = np.matmul(*wide(a, b))
    fixed = {1} if seed % 3 == 0 else ()
    check(run(case_server, mode, "MatMul", [a, b], fixed=fixed, dynamic=seed % 2 == 0)[0], want, dtype, mode, k, "MatMul")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds, m=sizes, k=sizes, n=sizes, flip=st.tuples(st.booleans(), st.booleans()))
def test_gemm(case_server, data, mode, seed, m, k, n, flip):
    dtype = data.draw(st.sampled_from(dtypes("Gemm")))
    alpha, beta = data.draw(st.sampled_from([(1, 1), (2, -3), (0, 1), (1, 0)] + ([(0.5, 0.25)] if is_float(dtype) else [])))
    addend = data.draw(st.sampled_from([None, (), (1,), (n,), (1, n), (m, 1), (1, 1), (m, n)]))
    a = values(dtype, (k, m) if flip[0] else (m, k), seed, specials=not is_float(dtype))
    b = values(dtype, (n, k) if flip[1] else (k, n), seed + 1, specials=not is_float(dtype))
    c = None if addend is None else values(dtype, addend, seed + 2, specials=False)
    left, right = wide(a.T if flip[0] else a, b.T if flip[1] else b)
    with np.errstate(all="ignore"):
        kind = left.dtype.type
        want = left @ right * kind(alpha) if alpha >= 0 or left.dtype.kind != "u" else left @ right
        if c is not None:
            term = wide(c)[0]
            want = want + (term * kind(beta) if beta >= 0 else (np.zeros_like(term) - term * kind(-beta)))
    attributes = {"alpha": float(alpha), "beta": float(beta), "transA": int(flip[0]), "transB": int(flip[1])}
    check(run(case_server, mode, "Gemm", [a, b, c], attributes, fixed={1} if seed % 3 == 0 else (), dynamic=seed % 2 == 0)[0], want, dtype, mode, k, "Gemm")


@REPEATABLE
@given(data=st.data(), mode=modes, seed=seeds)
def test_einsum(case_server, data, mode, seed):
    """Random equations: one to three operands, repeated labels, labels that are summed, implicit and explicit outputs, '...'."""
    dtype = data.draw(st.sampled_from(dtypes("Einsum")))
    size = {label: data.draw(st.integers(0, 4)) for label in "abcd"}
    terms = data.draw(st.lists(st.text("abcd", min_size=0, max_size=3), min_size=1, max_size=3))
    batch = data.draw(st.sampled_from([None, (), (2,), (1, 3)]))
    inputs, written = [], []
    for i, term in enumerate(terms):
        has_batch = batch is not None and (i == 0 or (seed >> i) & 1)
        written.append(("..." if has_batch else "") + term)
        inputs.append(values(dtype, (*(batch if has_batch else ()), *(size[label] for label in term)), seed + i, specials=not is_float(dtype)))
    present = sorted(set("".join(terms)))
    implicit = data.draw(st.booleans())
    kept = data.draw(st.permutations(present))[:data.draw(st.integers(0, len(present)))] if present else []
    equation = ",".join(written) + ("" if implicit else "->" + ("..." if batch is not None else "") + "".join(kept))
    with np.errstate(all="ignore"):
        want = np.einsum(equation, *wide(*inputs), optimize=False)
    count = int(np.prod([max(size[label], 1) for label in present]))
    got = run(case_server, mode, "Einsum", inputs, {"equation": equation}, dynamic=seed % 2 == 0)[0]
    check(got, want, dtype, mode, 30 * count, f"Einsum {equation}")
