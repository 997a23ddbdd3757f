"""Pictures cross to messages and back, whatever the encoding, the step and the byte order."""

from __future__ import annotations

import time
from array import array
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Header

from hvs_ros import image_encodings
from hvs_ros.image_encodings import ImageError
from hvs_ros.nodes.images import from_compressed, from_image, to_compressed, to_image

HEADER = Header(frame_id="camera")
BGR = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)


def message(encoding: str, pixels: NDArray[Any], *, padding: int = 0, big: bool = False, height: int = 0) -> Image:
    """Return pixels (rows, columns, ...) as a message, each row followed by some rubbish."""
    rows = pixels.reshape(pixels.shape[0], -1)
    rows = np.ascontiguousarray(rows if rows.itemsize == 1 else rows.astype(">u2" if big else "<u2")).view(np.uint8)
    rubbish = np.full((rows.shape[0], padding), 0xA5, np.uint8)
    data = np.hstack([rows, rubbish])
    result = Image(height=height or pixels.shape[0], width=pixels.shape[1], encoding=encoding, is_bigendian=int(big))
    result.step = data.shape[1]
    result.data = array("B", data.tobytes())
    return result


def alpha(pixels: NDArray[Any]) -> NDArray[Any]:
    return np.dstack([pixels, np.full(pixels.shape[:2], 9, pixels.dtype)])


WIDE = BGR.astype(np.uint16) * 257
GREY = BGR[:, :, 0]
AS_BGR = {
    "bgr8": BGR,
    "rgb8": BGR[:, :, ::-1],
    "bgra8": alpha(BGR),
    "rgba8": alpha(BGR[:, :, ::-1]),
    "8UC3": BGR,
    "8UC4": alpha(BGR),
    "bgr16": WIDE,
    "rgb16": WIDE[:, :, ::-1],
    "bgra16": alpha(WIDE),
    "rgba16": alpha(WIDE[:, :, ::-1]),
    "16UC3": WIDE,
}
AS_GREY = {"mono8": GREY, "8UC1": GREY, "mono16": WIDE[:, :, 0], "16UC1": WIDE[:, :, 0]}


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("encoding", AS_BGR)
def test_colour(encoding: str, padding: int, big: bool) -> None:
    picture = from_image(message(encoding, AS_BGR[encoding], padding=padding, big=big))
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    np.testing.assert_array_equal(picture, BGR)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("padding", [0, 5])
@pytest.mark.parametrize("encoding", AS_GREY)
def test_grey_comes_out_with_three_channels(encoding: str, padding: int, big: bool) -> None:
    picture = from_image(message(encoding, AS_GREY[encoding], padding=padding, big=big))
    np.testing.assert_array_equal(picture, np.dstack([GREY] * 3))


def test_sixteen_bits_are_rounded() -> None:
    values = np.array([[0, 128, 129, 257, 65535]], np.uint16)
    assert from_image(message("mono16", values))[0, :, 0].tolist() == [0, 0, 1, 1, 255]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("pattern", ["rggb", "bggr", "gbrg", "grbg"])
def test_bayer_patterns(pattern: str, wide: bool) -> None:
    colour = {"b": 200, "g": 120, "r": 30}
    tile = np.array([[colour[pattern[0]], colour[pattern[1]]], [colour[pattern[2]], colour[pattern[3]]]])
    mosaic = np.tile(tile, (4, 5)).astype(np.uint16 if wide else np.uint8)
    encoding = f"bayer_{pattern}{'16' if wide else '8'}"
    picture = from_image(message(encoding, mosaic * 257 if wide else mosaic, padding=2))
    assert picture[2:-2, 2:-2].reshape(-1, 3).tolist() == [[200, 120, 30]] * 24


RED_YUV = (81, 90, 240)  # BT.601, video range


@pytest.mark.parametrize("encoding", ["yuv422", "uyvy", "yuv422_yuy2", "yuyv", "nv12", "nv21", "i420"])
def test_yuv(encoding: str) -> None:
    y, u, v = RED_YUV
    height, width = 4, 6
    if encoding in ("yuv422", "uyvy", "yuv422_yuy2", "yuyv"):
        pair = [u, y, v, y] if encoding in ("yuv422", "uyvy") else [y, u, y, v]
        pixels = np.tile(np.array(pair, np.uint8), (height, width // 2)).reshape(height, width, 2)
    else:
        chroma = {"nv12": [u, v], "nv21": [v, u]}.get(encoding)
        below = np.tile(np.array(chroma, np.uint8), (height // 2, width // 2)) if chroma else None
        if below is None:
            below = np.concatenate([np.full(6, u), np.full(6, v)]).astype(np.uint8).reshape(2, 6)
        pixels = np.vstack([np.full((height, width), y, np.uint8), below])
    picture = from_image(message(encoding, pixels, padding=0 if encoding == "i420" else 4, height=height))
    assert picture.shape == (height, width, 3)
    np.testing.assert_allclose(picture, np.broadcast_to([0, 0, 254], picture.shape), atol=2)


def test_what_was_written_is_read() -> None:
    sent = to_image(BGR[:, ::2], HEADER)
    assert (sent.encoding, sent.step, sent.header.frame_id) == ("bgr8", 12, "camera")
    np.testing.assert_array_equal(from_image(sent), BGR[:, ::2])


def test_the_picture_is_a_copy() -> None:
    sent = to_image(BGR, HEADER)
    from_image(sent)[...] = 0
    np.testing.assert_array_equal(from_image(sent), BGR)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"encoding": "32FC1"}, "'32FC1' is not known"),
        ({"encoding": "bayer_xxxx8"}, "not known"),
        ({"step": 20}, "step is 20"),
        ({"height": 6}, "needs 126"),
        ({"width": 0}, "empty"),
        ({"data": array("B")}, "0 bytes"),
    ],
)
def test_a_message_that_is_no_picture_is_refused(change: dict[str, Any], reason: str) -> None:
    bad = message("bgr8", BGR)
    for name, value in change.items():
        setattr(bad, name, value)
    with pytest.raises(ImageError, match=reason):
        from_image(bad)


@pytest.mark.parametrize("picture", [BGR[:, :, 0], BGR.astype(np.float32), BGR[:0]])
def test_what_is_no_picture_is_not_sent(picture: Any) -> None:
    with pytest.raises(ImageError, match=r"\(height, width, 3\)"):
        to_image(picture, HEADER)


SMOOTH = cv2.resize(BGR, (64, 48), interpolation=cv2.INTER_CUBIC)


@pytest.mark.parametrize("turbo", [True, False])
def test_jpeg_with_either_library(monkeypatch: pytest.MonkeyPatch, turbo: bool) -> None:
    if turbo:
        pytest.importorskip("simplejpeg")
    monkeypatch.setattr(image_encodings, "_HAVE_SIMPLEJPEG", turbo)
    sent = to_compressed(SMOOTH, HEADER, 95)
    assert sent.header.frame_id == "camera"
    assert "jpeg" in sent.format
    assert np.abs(from_compressed(sent).astype(int) - SMOOTH).mean() < 6


def test_png_is_read_as_well() -> None:
    data = cv2.imencode(".png", BGR)[1].tobytes()
    np.testing.assert_array_equal(from_compressed(CompressedImage(format="png", data=array("B", data))), BGR)


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\xff\xd8\xff\xe0 cut short"])
def test_damaged_compressed_pictures_are_refused(data: bytes) -> None:
    with pytest.raises(ImageError, match="bytes"):
        from_compressed(CompressedImage(format="jpeg", data=array("B", data)))


def test_without_opencv_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ImportError("numpy.core.multiarray failed to import")

    monkeypatch.setattr(image_encodings.importlib, "import_module", broken)
    with pytest.raises(ImageError, match=r"OpenCV.*numpy.core.multiarray failed"):
        from_image(message("bayer_rggb8", np.zeros((4, 4), np.uint8)))
    np.testing.assert_array_equal(from_image(message("rgb8", BGR[:, :, ::-1])), BGR)


def test_a_large_picture_takes_milliseconds() -> None:
    picture = np.zeros((1080, 1920, 3), np.uint8)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        from_image(to_image(picture, HEADER))
        times.append(time.perf_counter() - began)
    # Filled from bytes it would be half a second.
    assert min(times) < 0.1
