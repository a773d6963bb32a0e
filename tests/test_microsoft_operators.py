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


def nchw(x):
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def nhwc(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def heads_normalised(x, weight, size):
    """Each head of [B, S, heads * size] over its root mean square, times the weight."""
    heads = x.reshape(*x.shape[:2], -1, size)
    return (heads / np.sqrt((heads ** 2).mean(-1, keepdims=True) + 1e-6) * weight).reshape(x.shape).astype(np.float32)


def group_query(q, k, v, past, lengths, total, more=(), outputs=3, **attributes):
    """A GroupQueryAttention of 4 heads of 16 elements on 2 key heads."""
    inputs = [q, k, v, past, past, np.array(lengths, np.int32), scalar(total, np.int32), COS8, SIN8, *more]
    return ("GroupQueryAttention", MS, inputs, outputs, {"num_heads": 4, "kv_num_heads": 2, **attributes})


Q, K, V_ = f32(2, 5, 64), f32(2, 5, 32), f32(2, 5, 32)
CASES |= {
    "group_query_sink": group_query(Q, K, V_, None, [4, 4], 5, [None, None, f32(4)], do_rotary=1),
    "group_query_bias": group_query(Q, K, V_, None, [4, 4], 5, [None, f32(1, 4, 5, 5)]),
    "group_query_positions": group_query(Q, K, V_, None, [4, 4], 5, [np.tile(np.arange(5, dtype=np.int64), (2, 1))], do_rotary=1),
    "group_query_smooth": group_query(Q, K, V_, None, [4, 4], 5, smooth_softmax=1, scale=0.2),
    "group_query_packed_rotary": group_query(f32(2, 5, 128), None, None, None, [4, 4], 5, do_rotary=1),
    "group_query_decode_window": group_query(f32(2, 1, 64), f32(2, 1, 32), f32(2, 1, 32), f32(2, 2, 6, 16), [6, 6], 7, do_rotary=1, local_window_size=3),
    "multi_head_bias_scale": ("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 5, 6), f32(2, 5, 6), f32(18), None, f32(2, 2, 4, 5)], 1, {"num_heads": 2, "scale": 0.4}),
    "multi_head_no_value_bias": ("MultiHeadAttention", MS, [f32(1, 3, 8), f32(1, 3, 8), f32(1, 3, 8)], 1, {"num_heads": 4, "unidirectional": 1}),
    "attention_sizes": ("Attention", MS, [f32(2, 4, 6), f32(6, 20), f32(20)], 1, {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}),
    "attention_mask_queries": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24), rng.integers(0, 2, (2, 4, 4)).astype(np.int32) | np.eye(4, dtype=np.int32)], 1,
                               {"num_heads": 2}),
    "attention_mask_value": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24), np.array([[1, 1, 0, 1], [1, 1, 1, 0]], np.int32)], 1,
                             {"num_heads": 2, "mask_filter_value": -3.0}),
    "attention_starts": ("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24), np.array([4, 3, 1, 0], np.int32)], 1, {"num_heads": 2}),
    "qattention_columns": ("QAttention", MS, [u8(2, 4, 6), weights(6, 24), f32(24), scalar(0.02), f32(24) ** 2 * 0.01 + 0.005, None, scalar(100, np.uint8),
                                              np.zeros(24, np.int8)], 1, {"num_heads": 2, "unidirectional": 1}),
    "qattention_past": ("QAttention", MS, [u8(2, 3, 6), weights(6, 24), f32(24), scalar(0.02), scalar(0.01), None, scalar(100, np.uint8), scalar(3, np.int8),
                                           f32(2, 2, 2, 2, 4)], 2, {"num_heads": 2, "unidirectional": 1}),
    "matmul_2_bits": ("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 8), f32(10), u8(5)], 1, {"K": 64, "N": 5, "bits": 2, "block_size": 32}),
    "matmul_8_bits_zeros": ("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 32), f32(10), u8(10)], 1, {"K": 64, "N": 5, "bits": 8, "block_size": 32}),
    "matmul_4_bits_real_zeros": ("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 16), f32(10), f32(10)], 1, {"K": 64, "N": 5, "bits": 4, "block_size": 32}),
    # ONNX Runtime forgets the zero points where groups are given.
    "matmul_4_bits_groups": ("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 16), f32(10), None, rng.integers(0, 2, 64).astype(np.int32)], 1,
                             {"K": 64, "N": 5, "bits": 4, "block_size": 32}),
    "matmul_4_bits_bias": ("MatMulNBits", MS, [f32(3, 48), u8(5, 3, 8), f32(15), None, None, f32(5)], 1, {"K": 48, "N": 5, "bits": 4, "block_size": 16, "accuracy_level": 1}),
    **{f"fused_conv_{name.lower()}": ("FusedConv", MS, [f32(1, 2, 6, 6), f32(4, 2, 3, 3), f32(4)], 1, {"activation": name, **more})
       for name, more in (("Clip", {"activation_params": [-0.5, 1.5]}), ("LeakyRelu", {"activation_params": [0.3]}), ("Sigmoid", {}), ("Tanh", {}),
                          ("HardSigmoid", {"activation_params": [0.1, 0.6]}))},
    **{f"fused_gemm_{name.lower()}": ("FusedGemm", MS, [f32(3, 4), f32(5, 4), f32(3, 1)], 1, {"activation": name, "transB": 1, **more})
       for name, more in (("Relu", {}), ("Tanh", {}), ("Elu", {"activation_alpha": 0.7}))},
    "embed_layer_normalization_plain": ("EmbedLayerNormalization", MS, [rng.integers(0, 9, (2, 4)).astype(np.int32), None, f32(9, 8), f32(6, 8), None, f32(8), f32(8), None,
                                                                       np.array([[3, 2, 1, 0], [0, 1, 5, 4]], np.int32)], 3, {"epsilon": 1e-5}),
    "qlinear_where": ("QLinearWhere", MS, [np.array([[True], [False]]), u8(2, 3), scalar(0.1), scalar(100, np.uint8), u8(3), scalar(0.2), scalar(50, np.uint8),
                                           scalar(0.3), scalar(90, np.uint8)], 1, {}),
    "qgemm": ("QGemm", MS, [u8(3, 4), scalar(0.05), scalar(120, np.uint8), weights(5, 4), scalar(0.02), scalar(0, np.int8), rng.integers(-99, 99, 5).astype(np.int32),
                            scalar(0.13), scalar(128, np.uint8)], 1, {"transB": 1}),
    "qgemm_columns_real": ("QGemm", MS, [u8(3, 4), scalar(0.05), scalar(120, np.uint8), weights(4, 5), f32(5) ** 2 * 0.01 + 0.005, np.zeros(5, np.int8), None], 1,
                           {"alpha": 0.5}),
    "gather_block_4_bits": ("GatherBlockQuantized", MS, [u8(7, 32), np.array([[0, 3], [6, 2]], np.int64), f32(7, 2), u8(7, 1)], 1,
                            {"block_size": 32, "bits": 4, "quantize_axis": 1}),
    "gather_block_4_bits_plain": ("GatherBlockQuantized", MS, [u8(7, 24), np.array([5, 1], np.int64), f32(7, 3)], 1, {"block_size": 16, "bits": 4, "quantize_axis": 1}),
    "gather_block_8_bits": ("GatherBlockQuantized", MS, [u8(7, 32), np.array([5, 1], np.int32), f32(7, 2), u8(7, 2)], 1, {"block_size": 16, "bits": 8, "quantize_axis": 1}),
    "dynamic_quantize_lstm": ("DynamicQuantizeLSTM", MS, [f32(5, 2, 4), weights(1, 4, 12), weights(1, 3, 12), f32(1, 24), None, None, None, None,
                                                          f32(1) ** 2 * 0.001 + 0.004, np.zeros(1, np.int8), f32(1) ** 2 * 0.001 + 0.004, np.zeros(1, np.int8)], 3, {"hidden_size": 3}),
    "qembed_layer_normalization": ("QEmbedLayerNormalization", MS,
                                   [rng.integers(0, 9, (2, 4)).astype(np.int32), rng.integers(0, 2, (2, 4)).astype(np.int32), u8(9, 8), u8(6, 8), u8(2, 8), u8(8), u8(8),
                                    np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32), *[scalar(0.01 * k) for k in range(1, 6)],
                                    *[scalar(20 * k, np.uint8) for k in range(1, 6)]], 2, {"epsilon": 1e-5}),
    **{f"qlinear_conv_{layout}": ("QLinearConv", MS, [u8(1, 5, 6, 3) if layout else u8(1, 3, 5, 6), scalar(0.05), scalar(120, np.uint8), weights(4, 3, 2, 2), scalar(0.02),
                                                      scalar(0, np.int8), scalar(0.0937), scalar(128, np.uint8), rng.integers(-99, 99, 4).astype(np.int32)], 1,
                                  {"channels_last": layout, "pads": [1, 0, 1, 0]}) for layout in (0, 1)},
    "nhwc_max_pool": ("NhwcMaxPool", MS, [u8(1, 5, 6, 3)], 1, {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}),
}

# ONNX Runtime quantises the activations of these, we do not.
TOLERANCES = {"dynamic_quantize_lstm": (0.05, 0.05)}

# What ONNX Runtime has no CPU kernel for: the case, a case that is equal to it, and how the results of that have to be turned.
IMAGE, FILTERS, SUMMAND = f32(1, 6, 7, 3), f32(4, 3, 3, 3), f32(1, 4, 5, 4)
NORMS = (f32(16), f32(16))
EQUAL_CASES = {
    "nhwc_conv": (("NhwcConv", MS, [IMAGE, FILTERS, f32(4)], 1, {"strides": [2, 1]}),
                  lambda c: ("Conv", "", [nchw(c[2][0]), *c[2][1:]], 1, c[4]), nhwc),
    "nhwc_fused_conv": (("NhwcFusedConv", MS, [IMAGE, FILTERS, None, SUMMAND], 1, {"activation": "Relu"}),
                        lambda c: ("FusedConv", MS, [nchw(c[2][0]), FILTERS, None, nchw(SUMMAND)], 1, c[4]), nhwc),
    "group_query_norm": (group_query(Q, K, V_, None, [4, 4], 5, [None] * 5 + list(NORMS), do_rotary=1),
                         lambda c: group_query(heads_normalised(Q, NORMS[0], 16), heads_normalised(K, NORMS[1], 16), V_, None, [4, 4], 5, do_rotary=1),
                         lambda y: y),
}

# Forms that are refused: the case, and what the answer of `rota check` has to say beside the name of the node.
REFUSED = {
    "attention_rotary": (("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24)], 1, {"num_heads": 2, "do_rotary": 1}), "do_rotary = 1"),
    "attention_buffer": (("Attention", MS, [f32(2, 4, 6), f32(6, 24), f32(24)], 1, {"num_heads": 2, "past_present_share_buffer": 1}), "past_present_share_buffer = 1"),
    "qattention_rotary": (("QAttention", MS, [u8(2, 4, 6), weights(6, 24), f32(24), scalar(0.02), scalar(0.01)], 1, {"num_heads": 2, "do_rotary": 1}), "do_rotary = 1"),
    "multi_head_buffer": (("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 4, 6), f32(2, 4, 6), None, None, None, f32(2, 2, 9, 3), f32(2, 2, 9, 3), np.array([3], np.int32)],
                           3, {"num_heads": 2}), "past_sequence_length"),
    "multi_head_scores": (("MultiHeadAttention", MS, [f32(2, 4, 6), f32(2, 4, 6), f32(2, 4, 6)], 4, {"num_heads": 2}), "output 'qk'"),
    "group_query_quantised": (group_query(Q, K, V_, None, [4, 4], 5, k_quant_type="PER_TENSOR"), "k_quant_type = PER_TENSOR"),
    "group_query_scale": (group_query(Q, K, V_, None, [4, 4], 5, [None, None, None, f32(1), f32(1)]), "k_scale"),
    "group_query_ragged": (group_query(Q, K, V_, None, [4, 4], 5, [None] * 7 + [np.array([5, 5], np.int32)]), "query_seqlens"),
    "group_query_scores": (group_query(Q, K, V_, None, [4, 4], 5, outputs=4), "output_qk"),
    "group_query_sliding": (group_query(Q, K, V_, None, [4, 4], 5, sliding_window_cache=1), "sliding_window_cache = 1"),
    "matmul_3_bits": (("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 12), f32(10)], 1, {"K": 64, "N": 5, "bits": 3, "block_size": 32}), "found 3"),
    "matmul_prepacked": (("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 16), f32(10)], 1, {"K": 64, "N": 5, "bits": 4, "block_size": 32, "weight_prepacked": 1}), "weight_prepacked"),
    "matmul_wrong_size": (("MatMulNBits", MS, [f32(3, 64), u8(5, 2, 15), f32(10)], 1, {"K": 64, "N": 5, "bits": 4, "block_size": 32}), "B is [N, blocks of K"),
    "fused_conv_swish": (("FusedConv", MS, [f32(1, 2, 6, 6), f32(4, 2, 3, 3)], 1, {"activation": "Swish"}), "Swish"),
    "fused_gemm_gelu": (("FusedGemm", MS, [f32(3, 4), f32(4, 5)], 1, {"activation": "Gelu"}), "Gelu"),
    "gather_float8": (("GatherBlockQuantized", MS, [rng.integers(-8, 8, (7, 32)).astype(np.int8), np.array([5], np.int64), f32(7, 2)], 1,
                       {"block_size": 16, "quantize_axis": 1}), "int8"),
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


def run_in_onnx_runtime(model, feeds):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def results_of(case):
    """The case's model, what goes in, and what ONNX Runtime says comes out."""
    model = model_of(*case)
    for output in model.graph.output:
        output.ClearField("type")
    feeds = {f"x{i}": value for i, value in enumerate(case[2]) if value is not None}
    return model, feeds, run_in_onnx_runtime(model, feeds)


def write_case(folder, case, results=None):
    if results is None:
        model, feeds, results = results_of(case)
    else:
        model, feeds = model_of(*case), {f"x{i}": value for i, value in enumerate(case[2]) if value is not None}
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
    for name, (case, equal, turn) in EQUAL_CASES.items():
        write_case(tmp_path / name, case, [turn(value) for value in results_of(equal(case))[2]])
    names = sorted([*CASES, *EQUAL_CASES])
    rows = [(name, *TOLERANCES.get(name, (0.0001, 0.00001))) for name in names]
    (tmp_path / "cases.tsv").write_text("".join(f"{name}\t{rtol}\t{atol}\tnode\n" for name, rtol, atol in rows))
    done = subprocess.run([program, tmp_path], capture_output=True, text=True, timeout=300)
    print(done.stdout[-20000:])
    assert re.fullmatch(rf"{len(names)} passed, 0 failed, 0 excluded", done.stdout.strip().splitlines()[-1])


@pytest.mark.parametrize("name", REFUSED)
def test_forms_that_do_not_run_are_refused_by_check(rota, tmp_path, name):
    case, words = REFUSED[name]
    model = model_of(*case)
    model.graph.node[0].name = f"node_{name}"
    for output in model.graph.output:
        output.CopyFrom(helper.make_tensor_value_info(output.name, TensorProto.FLOAT, None))
    path = tmp_path / "refused.onnx"
    path.write_bytes(model.SerializeToString())
    done = rota("check", path, code=None)
    text = done.stdout + done.stderr
    assert done.returncode != 0, text
    assert f"node_{name}" in text and words in text, text


def test_every_input_and_attribute_of_onnx_runtime_is_known(root):
    """What exporters write for these operators is what ONNX Runtime's own schemas say."""
    known = set(re.findall(r"^\| com\.microsoft\.(\w+) \|", (root / "docs/operators.md").read_text(), re.M))
    text = "".join(path.read_text() for path in (root / "src/op").glob("*.cpp"))
    definitions = {}
    for definition in re.split(r"\bDefinition\{", text):
        if '.domain = "com.microsoft"' in definition[:200]:
            definitions[re.search(r'\.name = "(\w+)"', definition).group(1)] = definition
    window = ("auto_pad", "dilations", "kernel_shape", "pads", "strides")
    schemas = [s for s in ort.capi.onnxruntime_pybind11_state.get_all_operator_schema() if s.domain == MS and s.name in known]
    assert len(schemas) > 30
    for schema in schemas:
        definition = definitions[schema.name]
        unknown = [name for name in schema.attributes if f'"{name}"' not in definition and not (name in window and "windowAttributes" in definition)]
        assert not unknown, f"{schema.name}: {unknown}"
        count = definition.split(".outputs")[0].count("{.name")
        assert count >= len(schema.inputs), f"{schema.name}: {count} of {len(schema.inputs)} inputs"
