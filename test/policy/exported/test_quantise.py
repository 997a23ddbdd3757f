from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.policy.onnx_model.precision import BLOCK
from hvs_ros.policy.onnx_model.quantise import block_count, block_scales, pack, packed_shape, unpack


def weights(outputs: int, inputs: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, (outputs, inputs)).astype(np.float32)


@given(
    outputs=st.integers(1, 9), inputs=st.integers(1, 4 * BLOCK), bits=st.sampled_from([4, 8]), seed=st.integers(0, 99)
)
def test_no_weight_moves_by_more_than_a_step(outputs: int, inputs: int, bits: int, seed: int) -> None:
    matrix = weights(outputs, inputs, seed)
    scales = block_scales(matrix, bits).astype(np.float16).astype(np.float32)
    packed = pack(matrix, scales, bits)
    assert packed.shape == packed_shape(outputs, inputs, bits)
    steps = np.repeat(np.abs(scales), BLOCK, axis=1)[:, :inputs]
    # Half a step by rounding; a whole one only at the end of the range that is one number shorter. There a scale that
    # float16 has rounded by 2^-11 counts up to 128 times.
    assert np.all(np.abs(unpack(packed, scales, bits, inputs) - matrix) <= 1.07 * steps + 1e-6)


@pytest.mark.parametrize("bits", [4, 8])
def test_zero_stays_zero_and_the_largest_is_met(bits: int) -> None:
    matrix = weights(3, BLOCK)
    matrix[0] = 0
    matrix[1, 7] = -0.9
    matrix[2, 8] = 0.9
    scales = block_scales(matrix, bits)
    back = unpack(pack(matrix, scales, bits), scales, bits, BLOCK)
    assert np.all(back[0] == 0)
    assert np.allclose((back[1, 7], back[2, 8]), (-0.9, 0.9), atol=1e-6)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("inputs", [64, 100])
def test_onnx_runtime_reads_it_so(bits: int, inputs: int) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    outputs = 48
    matrix = weights(outputs, inputs)
    scales = block_scales(matrix, bits)
    packed = pack(matrix, scales, bits)
    helper, numpy_helper, kinds = onnx.helper, onnx.numpy_helper, onnx.TensorProto
    node = helper.make_node(
        "MatMulNBits",
        ["x", "packed", "scales"],
        ["y"],
        domain="com.microsoft",
        K=inputs,
        N=outputs,
        bits=bits,
        block_size=BLOCK,
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", kinds.FLOAT, [None, inputs])],
        [helper.make_tensor_value_info("y", kinds.FLOAT, [None, outputs])],
        [numpy_helper.from_array(packed, "packed"), numpy_helper.from_array(scales.reshape(-1), "scales")],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=10
    )
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = weights(5, inputs, seed=1)
    y = session.run(None, {"x": x})[0]
    assert np.allclose(y, x @ unpack(packed, scales, bits, inputs).T, atol=1e-5)
    assert block_count(inputs) * BLOCK >= inputs
