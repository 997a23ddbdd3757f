from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hvs_ros.policy.qwen.checkpoint import VisionShape
from hvs_ros.policy.qwen.preprocess import PictureSize
from hvs_ros.policy.qwen.vision_layout import vision_layout, vision_rotation

VISION = VisionShape(2, 32, 2, 64, 64, 14, 2, 2, 112, (1,))


def size(rows: int, columns: int) -> PictureSize:
    return PictureSize((columns * 14, rows * 14), (columns * 14, rows * 14), rows, columns, rows * columns // 4)


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 30))
@example(39, 69)  # 1920x1080
@example(4, 4)  # one window exactly
def test_windows_are_those_of_transformers(rows: int, columns: int) -> None:
    torch, utils = pytest.importorskip("torch"), pytest.importorskip("transformers.vision_utils")
    grid = torch.tensor([[1, rows * 2, columns * 2]])
    order, bounds = utils.get_vision_window_index(grid, 2, 112, 14)
    layout = vision_layout(size(rows * 2, columns * 2), VISION)
    patches = (order.numpy()[:, None] * 4 + np.arange(4)).reshape(-1)
    theirs = {frozenset(patches[a:b].tolist()) for a, b in pairwise(bounds.tolist())}
    ours = {frozenset(slots[filled].tolist()) for slots, filled in zip(layout.slots, layout.filled, strict=True)}
    assert ours == theirs
    assert np.array_equal(layout.positions, utils.get_vision_position_ids(grid, 2).numpy())


@given(st.integers(1, 30), st.integers(1, 30))
def test_there_and_back(rows: int, columns: int) -> None:
    layout = vision_layout(size(rows * 2, columns * 2), VISION)
    values = np.arange(rows * columns * 4)
    gathered = values[layout.slots]
    assert layout.slots.shape[1] == 64 and layout.filled.sum() == len(values)
    assert np.array_equal(gathered.reshape(-1)[layout.back], values)


def test_rotation_is_that_of_transformers() -> None:
    torch = pytest.importorskip("torch")
    modeling = pytest.importorskip("transformers.models.qwen2_5_vl.modeling_qwen2_5_vl")
    configuration = pytest.importorskip("transformers.models.qwen2_5_vl.configuration_qwen2_5_vl")
    config = configuration.Qwen2_5_VLVisionConfig(hidden_size=32, num_heads=2, depth=2)
    layout = vision_layout(size(10, 14), VISION)
    cosines, sines = vision_rotation(layout, VISION)
    try:
        embedding = modeling.Qwen2_5_VLVisionRotaryEmbedding(config)
    except AttributeError:
        pytest.skip("this version of transformers computes them elsewhere")
    theirs = embedding(torch.zeros(1), torch.from_numpy(layout.positions))
    np.testing.assert_allclose(cosines, theirs[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(sines, theirs[1].numpy(), atol=1e-5)
