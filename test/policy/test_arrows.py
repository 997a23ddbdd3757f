"""Arrows on signs: eight directions, and everything that is not one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from picture_scenes import ANGLE, Sign, arrow_points, sign_picture
from PIL import Image, ImageDraw, ImageFont

from hvs_ros.policy.sign_reading.arrow_shapes import fit_arrow
from hvs_ros.policy.sign_reading.arrows import MIN_MARGIN, MIN_OVERLAP, find_arrow
from hvs_ros.policy.sign_reading.lines import Line


def blob(points: list[tuple[float, float]], size: int = 200) -> np.ndarray:
    canvas = np.zeros((size, size), np.uint8)
    cv2.fillPoly(canvas, [np.array(points).round().astype(np.int32)], 1)
    x, y, w, h = cv2.boundingRect(canvas)
    return canvas[y : y + h, x : x + w]


@pytest.mark.parametrize("direction", ANGLE)
@pytest.mark.parametrize("size", [20, 40, 120])
def test_a_drawn_arrow_has_its_direction(direction: str, size: int) -> None:
    fit = fit_arrow(blob(arrow_points((100, 100), size, direction)))
    assert fit is not None and fit.direction == direction
    assert fit.overlap >= MIN_OVERLAP and fit.margin >= MIN_MARGIN


@pytest.mark.parametrize("direction", ANGLE)
@pytest.mark.parametrize("squeeze", [0.6, 1.5])
def test_an_arrow_seen_from_the_side_keeps_its_direction(direction: str, squeeze: float) -> None:
    flat = blob(arrow_points((100, 100), 100, direction))
    seen = cv2.resize(flat, None, fx=squeeze, fy=1.0, interpolation=cv2.INTER_NEAREST)
    fit = fit_arrow(seen)
    assert fit is not None and fit.direction == direction and fit.overlap >= MIN_OVERLAP


@pytest.mark.parametrize("letter", list("ABCDEFGHKLMNOPRSUXZabcdeghkmnopqrsuxz0123568&"))
def test_a_letter_is_no_arrow(letter: str) -> None:
    image = Image.new("L", (160, 160))
    ImageDraw.Draw(image).text((30, 20), letter, 255, ImageFont.load_default(size=90), stroke_width=2)
    pixels = (np.asarray(image) > 127).astype(np.uint8)
    x, y, w, h = cv2.boundingRect(pixels)
    fit = fit_arrow(pixels[y : y + h, x : x + w])
    assert fit is None or fit.overlap < MIN_OVERLAP or fit.margin < MIN_MARGIN


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["dot", "square", "bar", "ring"]),
    st.integers(12, 60),
    st.floats(0.4, 2.5),
)
def test_simple_shapes_are_no_arrows(shape: str, size: int, squeeze: float) -> None:
    canvas = np.zeros((160, 160), np.uint8)
    if shape == "square":
        canvas[40 : 40 + size, 40 : 40 + size] = 1
    elif shape == "bar":
        canvas[40 : 40 + size, 40 : 40 + max(5, size // 3)] = 1
    else:
        cv2.circle(canvas, (80, 80), size // 2 + 8, 1, -1 if shape == "dot" else 4)
    x, y, w, h = cv2.boundingRect(canvas)
    seen = cv2.resize(canvas[y : y + h, x : x + w], None, fx=squeeze, fy=1, interpolation=cv2.INTER_NEAREST)
    fit = fit_arrow(seen)
    assert fit is None or fit.overlap < MIN_OVERLAP or fit.margin < MIN_MARGIN


def line_of(sign: Sign, picture: np.ndarray) -> Line:
    """The words of the sign in the middle of a picture, as a reader would box them."""
    width = ImageFont.load_default(size=sign.size).getlength(sign.text)
    x, y = picture.shape[1] / 2, picture.shape[0] / 2
    left, top, right, bottom = x - width / 2 - 2, y - 0.55 * sign.size, x + width / 2 + 2, y + 0.55 * sign.size
    return Line(sign.text, 0.99, np.array([[left, top], [right, top], [right, bottom], [left, bottom]]))


@pytest.mark.parametrize("direction", ANGLE)
@pytest.mark.parametrize("size", [16, 34])
def test_the_arrow_beside_the_words_is_found(direction: str, size: int) -> None:
    sign = Sign("Platform 3", 0.0, arrow=direction, size=size)
    picture = sign_picture(sign)
    arrow = find_arrow(picture, line_of(sign, picture))
    assert arrow is not None and arrow.direction == direction


@pytest.mark.parametrize("color", [(20, 20, 20), (250, 210, 40), (150, 20, 20)])
def test_a_sign_without_an_arrow_has_none(color: tuple[int, int, int]) -> None:
    sign = Sign("Toilets", 0.0, size=30, color=color)
    picture = sign_picture(sign)
    assert find_arrow(picture, line_of(sign, picture)) is None


def test_the_arrow_of_another_row_is_not_taken() -> None:
    upper, lower = Sign("Platform 3", 0.0, arrow="right", size=30), Sign("Toilets", 0.0, arrow="left", size=30)
    picture = sign_picture(upper, 640, 60)
    below = sign_picture(lower, 640, 60)
    both = np.vstack([picture, below])
    first = line_of(upper, picture)
    second = Line("Toilets", 0.99, line_of(lower, below).quad + np.array([0, 60]))
    assert find_arrow(both, first, [first, second]).direction == "right"  # type: ignore[union-attr]
    assert find_arrow(both, second, [first, second]).direction == "left"  # type: ignore[union-attr]


def test_a_line_at_the_very_edge_or_without_contrast_has_no_arrow() -> None:
    grey = np.full((40, 60, 3), 90, np.uint8)
    quad = np.array([[-5.0, -5.0], [30.0, -5.0], [30.0, 12.0], [-5.0, 12.0]])
    assert find_arrow(grey, Line("EXIT", 0.9, quad)) is None
    assert find_arrow(grey, Line("EXIT", 0.9, quad * 0.1)) is None
