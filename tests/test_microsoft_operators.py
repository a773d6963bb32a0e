# SPDX-License-Identifier: Apache-2.0
"""Operators of com.microsoft (and convolutions, pools and recurrent layers in odd forms) against ONNX Runtime: models of one node with
random inputs, its outputs as the expected ones, run by rota_node_tests. Skipped where ONNX Runtime is not installed."""
import re
import subprocess

import numpy as np

import pytest
from onnx import TensorProto, helper, numpy_helper

ort = pytest.importorskip("onnxruntime")

MS = "com.microsoft"
rng = np.random.default_rng(7)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def u8(*shape):
    return rng.integers(0, 256, shape, dtype=np.uint8)


def s8(*shape):
    return rng.integers(-128, 128, shape, dtype=np.int8)


def weights(*shape):
    """Small enough for products in pairs of 16 bits: ONNX Runtime saturates those on machines without VNNI."""
    return rng.integers(-64, 64, shape, dtype=np.int8)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def i64(*values):
    return np.array(values, np.int64)


def caches(positions, half):
    angles = np.arange(positions)[:, None] / 100.0 ** (np.arange(half)[None, :] / half)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


COS, SIN = caches(32, 4)
COS8, SIN8 = caches(32, 8)

# name: (operator, domain, inputs (None: not given), number of outputs, attributes[, names of outputs that are left out])
CASES = {
    "gelu": ("Gelu", MS, [f32(2, 7)], 1, {}),
    "bias_gelu": ("BiasGelu", MS, [f32(2, 3, 7), f32(7)], 1, {}),
    "fast_gelu": ("FastGelu", MS, [f32(2, 7), f32(7)], 1, {}),
    "fast_gelu_no_bias": ("FastGelu", MS, [f32(2, 7)], 1, {}),
    "quick_gelu": ("QuickGelu", MS, [f32(2, 7)], 1, {"alpha": 1.3}),
    "fused_matmul": ("FusedMatMul", MS, [f32(2, 3, 4), f32(2, 5, 4)], 1, {"transB": 1, "alpha": 0.5}),
    "fused_matmul_batch": ("FusedMatMul", MS, [f32(3, 2, 4), f32(4, 2, 5)], 1, {"transBatchA": 1, "transBatchB": 1}),
    "fused_matmul_batch_and_last": ("FusedMatMul", MS, [f32(4, 2, 3), f32(4, 2, 5)], 1, {"transBatchA": 1, "transA": 1, "transBatchB": 1}),
    "fused_gemm": ("FusedGemm", MS, [f32(3, 4), f32(4, 5), f32(5)], 1, {"activation": "LeakyRelu", "activation_alpha": 0.2, "alpha": 0.5, "beta": 2.0}),
    "fused_conv": ("FusedConv", MS, [f32(1, 2, 6, 6), f32(4, 2, 3, 3), f32(4)], 1, {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    "fused_conv_sum": ("FusedConv", MS, [f32(1, 2, 6, 6), f32(4, 2, 3, 3), f32(4), f32(1, 4, 4, 4)], 1, {"activation": "Relu"}),
    "skip_layer_normalization": ("SkipLayerNormalization", MS, [f32(2, 3, 8), f32(2, 3, 8), f32(8), f32(8), f32(8)], 4, {"epsilon": 1e-5}, [1, 2]),
    "skip_layer_normalization_broadcast": ("SkipLayerNormalization", MS, [f32(2, 3, 8), f32(3, 8), f32(8)], 1, {"epsilon": 1e-5}),
    "skip_simplified": ("SkipSimplifiedLayerNormalization", MS, [f32(2, 3, 8), f32(2, 3, 8), f32(8), f32(8)], 4, {"epsilon": 1e-5}, [1, 2]),
    "simplified": ("SimplifiedLayerNormalization", "", [f32(2, 3, 8), f32(8)], 1, {"epsilon": 1e-5, "axis": -1}),
    "embed_layer_normalization": ("EmbedLayerNormalization", MS,
                                  [rng.integers(0, 9, (2, 4)).astype(np.int32), rng.integers(0, 2, (2, 4)).astype(np.int32), f32(9, 8), f32(6, 8), f32(2, 8),
                                   f32(8), f32(8), np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)], 2, {"epsilon": 1e-5}),
    "attention": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24)], 1, {"num_heads": 2}),
    "attention_causal": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24)], 1, {"num_heads": 2, "unidirectional": 1}),
    "attention_lengths": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24), np.array([4, 2], np.int32)], 1, {"num_heads": 2}),
    "attention_key_mask_past": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24), np.array([[1, 1, 1, 0, 1, 1], [1, 1, 1, 1, 0, 1]], np.int32),
                                                  f32(2, 2, 2, 2, 4)], 2, {"num_heads": 2}),
    "attention_bias": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24), None, None, f32(1, 2, 4, 4)], 1, {"num_heads": 2, "scale": 0.3}),
    "multi_head": ("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 5, 6), f32(2, 5, 8), f32(20)], 1, {"num_heads": 2}),
    "multi_head_mask": ("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 5, 6), f32(2, 5, 8), None, np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)], 1,
                        {"num_heads": 2}),
    "multi_head_heads_first": ("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 2, 5, 3), f32(2, 2, 5, 3)], 1, {"num_heads": 2}),
    "multi_head_past": ("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 4, 6), f32(2, 4, 6), None, None, f32(1, 2, 4, 7), f32(2, 2, 3, 3), f32(2, 2, 3, 3)], 3,
                        {"num_heads": 2, "unidirectional": 1}),
    "group_query_prompt": ("GroupQueryAttention", MS, [f32(2, 5, 64), f32(2, 5, 32), f32(2, 5, 32), None, None, np.array([4, 4], np.int32), scalar(5, np.int32), COS8, SIN8],
                           3, {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}),
    "group_query_decode": ("GroupQueryAttention", MS, [f32(2, 1, 64), f32(2, 1, 32), f32(2, 1, 32), f32(2, 2, 6, 16), f32(2, 2, 6, 16), np.array([6, 6], np.int32),
                                                       scalar(7, np.int32), COS8, SIN8], 3,
                           {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, "rotary_interleaved": 1, "softcap": 5.0}),
    "group_query_window": ("GroupQueryAttention", MS, [f32(1, 6, 48), None, None, None, None, np.array([5], np.int32), scalar(6, np.int32)], 3,
                           {"num_heads": 4, "kv_num_heads": 1, "local_window_size": 2}),
    "rotary": ("RotaryEmbedding", MS, [f32(2, 3, 16), i64(2), COS, SIN], 1, {}),
    "rotary_positions": ("RotaryEmbedding", MS, [f32(2, 2, 3, 8), np.array([[0, 4, 2], [3, 1, 0]], np.int64), COS, SIN], 1, {"interleaved": 1}),
    "qattention": ("QAttention", MS, [u8(2, 4, 6), weights(6, 24), f32(24), scalar(0.02), scalar(0.01), np.array([4, 3], np.int32), scalar(100, np.uint8), scalar(3, np.int8)],
                   1, {"num_heads": 2}),
    "matmul_integer_to_float": ("MatMulIntegerToFloat", MS, [u8(3, 8), weights(8, 5), scalar(0.1), f32(5), scalar(120, np.uint8), weights(5), f32(5)], 1, {}),
    "dynamic_quantize_matmul": ("DynamicQuantizeMatMul", MS, [f32(3, 8), weights(8, 5), scalar(0.1), scalar(4, np.int8), f32(5)], 1, {}),
    "matmul_4_bits": ("MatMulNBits", MS, [f32(2, 3, 40), u8(5, 2, 16), f32(10), u8(5)], 1, {"K": 40, "N": 5, "bits": 4, "block_size": 32}),
    "matmul_4_bits_plain": ("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 16), f32(10)], 1, {"K": 64, "N": 5, "bits": 4, "block_size": 32}),
    "matmul_8_bits": ("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 32), f32(10)], 1, {"K": 64, "N": 5, "bits": 8, "block_size": 32}),
    "qlinear_add": ("QLinearAdd", MS, [u8(2, 3), scalar(0.1), scalar(128, np.uint8), u8(3), scalar(0.2), scalar(100, np.uint8), scalar(0.3), scalar(90, np.uint8)], 1, {}),
    "qlinear_mul": ("QLinearMul", MS, [s8(2, 3), scalar(0.1), scalar(1, np.int8), s8(2, 1), scalar(0.2), scalar(-5, np.int8), scalar(3), scalar(9, np.int8)], 1, {}),
    "qlinear_sigmoid": ("QLinearSigmoid", MS, [u8(20), scalar(0.05), scalar(128, np.uint8), scalar(1 / 256), scalar(0, np.uint8)], 1, {}),
    "qlinear_leaky_relu": ("QLinearLeakyRelu", MS, [s8(20), scalar(0.05), scalar(3, np.int8), scalar(0.0437), scalar(-3, np.int8)], 1, {"alpha": 0.2}),
    "qlinear_softmax": ("QLinearSoftmax", MS, [u8(3, 6), scalar(0.02), scalar(128, np.uint8), scalar(1 / 256), scalar(0, np.uint8)], 1, {"opset": 13, "axis": -1}),
    "qlinear_concat": ("QLinearConcat", MS, [scalar(0.1), scalar(100, np.uint8), u8(2, 3), scalar(0.05), scalar(7, np.uint8), u8(2, 2), scalar(0.2), scalar(9, np.uint8)], 1,
                       {"axis": 1}),
    "qlinear_average_pool": ("QLinearAveragePool", MS, [u8(1, 2, 5, 5), scalar(0.1), scalar(20, np.uint8), scalar(0.0973), scalar(30, np.uint8)], 1,
                             {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "qlinear_average_pool_last": ("QLinearAveragePool", MS, [u8(1, 5, 5, 2), scalar(0.1), scalar(20, np.uint8), scalar(0.0973), scalar(30, np.uint8)], 1,
                                  {"kernel_shape": [2, 2], "strides": [2, 1], "channels_last": 1}),
    "qlinear_global_average_pool": ("QLinearGlobalAveragePool", MS, [u8(1, 2, 5, 5), scalar(0.1), scalar(20, np.uint8), scalar(0.05), scalar(3, np.uint8)], 1, {}),
    "quantize": ("QuantizeLinear", MS, [f32(2, 3), f32(3) ** 2 + 0.1, u8(3)], 1, {"axis": 1}),
    "dequantize": ("DequantizeLinear", MS, [u8(2, 3), f32(3), u8(3)], 1, {"axis": 1}),
    "conv_same_lower": ("Conv", "", [f32(1, 2, 7, 8), f32(3, 2, 3, 2)], 1, {"auto_pad": "SAME_LOWER", "strides": [2, 3], "dilations": [1, 1]}),
    "conv_transpose_output_shape": ("ConvTranspose", "", [f32(1, 2, 3, 4), f32(2, 3, 3, 3)], 1, {"strides": [2, 2], "output_shape": [7, 8]}),
    "conv_transpose_groups": ("ConvTranspose", "", [f32(1, 4, 3, 4), f32(4, 3, 3, 2), f32(6)], 1,
                              {"strides": [3, 2], "group": 2, "dilations": [1, 2], "output_padding": [1, 0], "pads": [1, 0, 2, 1]}),
    "average_pool_ceil": ("AveragePool", "", [f32(1, 2, 7, 6)], 1, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 0, 0, 1]}),
    "max_pool_dilated": ("MaxPool", "", [f32(1, 2, 9, 8)], 2, {"kernel_shape": [3, 2], "dilations": [2, 3], "strides": [2, 1], "pads": [1, 1, 1, 1]}),
    "lp_pool": ("LpPool", "", [f32(1, 2, 7, 6)], 1, {"kernel_shape": [3, 3], "strides": [2, 2], "p": 3}),
    "lstm_lengths": ("LSTM", "", [f32(5, 3, 4), f32(2, 12, 4), f32(2, 12, 3), f32(2, 24), np.array([5, 3, 1], np.int32), f32(2, 3, 3), f32(2, 3, 3), f32(2, 9)], 3,
                     {"hidden_size": 3, "direction": "bidirectional"}),
    "gru_lengths": ("GRU", "", [f32(5, 3, 4), f32(2, 9, 4), f32(2, 9, 3), f32(2, 18), np.array([5, 3, 1], np.int32), f32(2, 3, 3)], 2,
                    {"hidden_size": 3, "direction": "bidirectional", "linear_before_reset": 1}),
}


def model_of(operator, domain, inputs, outputs, attributes, left_out=()):
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    results = [f"y{i}" if i not in left_out else "" for i in range(outputs)]
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
             for name, value in zip(names, inputs, strict=True) if name]
    # The types of the outputs are filled in once they have been computed.
    graph = helper.make_graph([node], "case", infos, [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in results if name])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(MS, 1)], ir_version=10)


def write_case(folder, case):
    model = model_of(*case)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for output in model.graph.output:
        output.ClearField("type")
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {f"x{i}": value for i, value in enumerate(case[2]) if value is not None}
    results = session.run(None, feeds)
    for output, value in zip(model.graph.output, results, strict=True):
        output.CopyFrom(helper.make_tensor_value_info(output.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, (name, value) in enumerate(feeds.items()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    for i, (output, value) in enumerate(zip(model.graph.output, results, strict=True)):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(value, output.name).SerializeToString())


def test_operators_agree_with_onnx_runtime(root, tmp_path):
    program = root / "build/release/tests/rota_node_tests"
    assert program.is_file(), f"{program} is not built: make build"
    for name, case in CASES.items():
        write_case(tmp_path / name, case)
    (tmp_path / "cases.tsv").write_text("".join(f"{name}\t0.0001\t1e-05\tnode\n" for name in sorted(CASES)))
    done = subprocess.run([program, tmp_path], capture_output=True, text=True, timeout=300)
    print(done.stdout[-20000:])
    assert re.fullmatch(rf"{len(CASES)} passed, 0 failed, 0 excluded", done.stdout.strip().splitlines()[-1])
