from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Shown
from hvs_ros.policy.qwen.preprocess import PictureFormat, decode_picture, picture_size, preprocess

MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


def form(low: int = 3136, high: int = 12845056) -> PictureFormat:
    return PictureFormat(low, high, 14, 2, 2, MEAN, DEVIATION)


@pytest.mark.parametrize(
    ("sent", "seen", "tokens"),
    [((1920, 1080), (1932, 1092), 2691), ((1280, 720), (1288, 728), 1196), ((960, 540), (952, 532), 646)],
)
def test_the_views_of_the_benchmark(sent: tuple[int, int], seen: tuple[int, int], tokens: int) -> None:
    size = picture_size(*sent, form())
    assert (size.seen, size.tokens) == (seen, tokens)
    assert str(size) == f"{sent[0]}x{sent[1]} seen as {seen[0]}x{seen[1]}, {tokens} image tokens"


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(784, 10**6), st.integers(1, 40))
def test_sides_are_whole_tokens_within_the_limits(width: int, height: int, low: int, factor: int) -> None:
    if max(width, height) > 200 * min(width, height):
        with pytest.raises(PolicyError, match=f"{width}x{height}"):
            picture_size(width, height, form())
        return
    size = picture_size(width, height, form(low, low * (1 + factor)))
    assert size.seen[0] % 28 == 0 == size.seen[1] % 28 and min(size.seen) > 0
    assert size.tokens * 28 * 28 == size.seen[0] * size.seen[1] == size.rows * size.columns * 14 * 14


def processor(low: int, high: int):
    pytest.importorskip("transformers")
    try:
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil as Processor
    except ImportError:  # version 4
        from transformers import Qwen2VLImageProcessor as Processor
    return Processor(min_pixels=low, max_pixels=high)


@settings(max_examples=25)
@given(st.integers(20, 500), st.integers(20, 500), st.integers(0, 2**32 - 1), st.sampled_from([90000, 12845056]))
@example(640, 360, 0, 12845056)  # enlarged a little in both directions, as the views of the benchmark are
@example(504, 280, 0, 12845056)  # nothing to resize
@example(30, 20, 0, 12845056)  # enlarged to the least that is allowed
@example(700, 500, 0, 90000)  # shrunk
def test_equal_to_the_image_processor(width: int, height: int, seed: int, high: int) -> None:
    rgb = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    theirs = processor(3136, high)(images=[rgb], return_tensors="np")
    ours = preprocess(rgb, form(high=high))
    assert theirs["image_grid_thw"].tolist() == [[1, ours.size.rows, ours.size.columns]]
    assert ours.values.dtype == np.float32
    np.testing.assert_allclose(ours.values, theirs["pixel_values"], rtol=0, atol=1e-5)


def test_a_picture_is_decoded_as_it_was_sent() -> None:
    cv2 = pytest.importorskip("cv2")
    bgr = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)
    png = Shown(cv2.imencode(".png", bgr)[1].tobytes(), "image/png", 30, 20)
    assert np.array_equal(decode_picture(png), bgr[..., ::-1])
    with pytest.raises(PolicyError, match="cannot be decoded"):
        decode_picture(Shown(b"no picture", "image/jpeg", 30, 20))
    with pytest.raises(PolicyError, match="cannot be decoded"):
        decode_picture(Shown(png.data[:60], "image/png", 30, 20))
