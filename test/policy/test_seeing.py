"""Lines joined into signs, openings beside arrows, colours, the mark, and the memory of directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_scenes import CAMERA, PictureHead, observation, panorama

from hvs_ros.angles import Direction
from hvs_ros.panorama import draw_cross
from hvs_ros.policy.sign_reading.color import find_color
from hvs_ros.policy.sign_reading.lines import Line, readings
from hvs_ros.policy.sign_reading.mark import without_cross
from hvs_ros.policy.sign_reading.opening import find_opening
from hvs_ros.policy.sign_reading.sighting import Memory, Sighting, SightingKind
from hvs_ros.policy.sign_reading.vocabulary import CONCEPTS, read_table


def line(text: str, left: float, top: float, width: float, height: float = 20.0) -> Line:
    quad = np.array([[left, top], [left + width, top], [left + width, top + height], [left, top + height]])
    return Line(text, 0.95, quad)


def texts(lines: list[Line]) -> set[str]:
    return {reading.text for reading in readings(lines)}


def test_words_side_by_side_are_a_row() -> None:
    assert "Platform 3" in texts([line("3", 125, 1, 14), line("Platform", 10, 0, 100)])


def test_words_far_apart_are_two_signs() -> None:
    assert "Platform 3" not in texts([line("Platform", 10, 0, 100), line("3", 300, 0, 14)])


def test_lines_one_below_the_other_are_one_sign() -> None:
    found = texts([line("George", 10, 0, 60), line("Peabody", 75, 0, 80), line("LIBRARY", 40, 26, 80)])
    assert "George Peabody LIBRARY" in found


def test_a_headline_and_small_print_are_not_one_sign() -> None:
    assert "EXIT keep clear" not in texts([line("EXIT", 0, 0, 120, 60), line("keep clear", 0, 66, 90, 14)])


def test_the_part_of_a_line_lies_in_it() -> None:
    reading = readings([line("Lockers Toilets", 0, 0, 150)])[0]
    (quad,) = reading.quads((8, 15))
    assert quad[:, 0].min() == pytest.approx(80) and quad[:, 0].max() == pytest.approx(150)


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 300), st.floats(5, 200), st.floats(5, 60)), max_size=12))
def test_any_lines_are_read_without_doubles(boxes: list[tuple[float, float, float, float]]) -> None:
    lines = [line(f"w{i}", *box) for i, box in enumerate(boxes)]
    for reading in readings(lines):
        assert len(set(map(id, reading.lines))) == len(reading.lines)


def sign(yaw_deg: float, arrow: str | None, score: float = 0.9) -> Sighting:
    return Sighting(SightingKind.SIGN, Direction(yaw_deg, 12.0), "Metro", score, "metro", arrow, size_deg=6.0)


@pytest.mark.parametrize(("arrow", "door"), [("right", (12.0, 30.0)), ("left", (-34.0, -14.0))])
def test_an_arrow_points_at_the_next_opening(arrow: str, door: tuple[float, float]) -> None:
    head = PictureHead(panorama(doors=(door, (60.0, 90.0), (-100.0, -60.0))))
    found = find_opening(observation(head.look().image), sign(0.0, arrow))
    assert found is not None
    assert found.direction.yaw_deg == pytest.approx(sum(door) / 2 % 360, abs=2.0)


def test_a_bare_wall_has_no_opening_and_a_sign_without_arrow_points_nowhere() -> None:
    head = PictureHead(panorama())
    assert find_opening(observation(head.look().image), sign(0.0, "right")) is None
    head = PictureHead(panorama(doors=((12.0, 30.0),)))
    assert find_opening(observation(head.look().image), sign(0.0, "up")) is None


def test_a_patch_of_the_colour_is_found_and_the_cross_is_none() -> None:
    image = np.full((540, 960, 3), 128, np.uint8)
    image[300:360, 700:740] = (20, 20, 200)
    marked = observation(draw_cross(image))
    (patch,) = find_color(marked, "red")
    assert patch.direction.yaw_deg == pytest.approx(np.degrees(np.arctan((720 - 480) / CAMERA.fx)), abs=0.5)
    assert patch.direction.pitch_deg < 0
    assert find_color(marked, "green") == []


def test_a_wall_of_the_colour_is_not_the_thing() -> None:
    image = np.full((540, 960, 3), 128, np.uint8)
    image[:, :480] = (20, 20, 200)
    assert find_color(observation(image), "red") == []


def test_the_cross_is_taken_out() -> None:
    rows, columns = np.mgrid[:540, :960]
    smooth = np.stack([rows / 4, columns / 5, (rows + columns) / 8], axis=2).astype(np.uint8)
    clean = without_cross(draw_cross(smooth))
    assert not np.any(np.all(clean == (0, 255, 0), axis=2))
    assert np.abs(clean.astype(int) - smooth).max() <= 2
    assert without_cross(smooth) is smooth


def test_the_memory_keeps_the_better_sighting_of_a_place() -> None:
    memory = Memory()
    memory.add([sign(10.0, None, 0.7), sign(90.0, "left", 0.8)])
    memory.add([sign(10.8, None, 0.9), sign(90.3, None, 0.85)])
    assert [item.score for item in memory.sightings] == [0.9, 0.85]
    assert memory.sightings[1].arrow == "left"
    memory.reject(memory.sightings[0])
    assert memory.sightings[0].score == 0.85


def test_every_concept_has_names_and_no_double_entry() -> None:
    assert len({concept.name for concept in CONCEPTS}) == len(CONCEPTS) > 100


def test_a_malformed_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="'exit' has no names"):
        read_table("exit\n    asked: leave")
    with pytest.raises(ValueError, match="unknown kind 'beside'"):
        read_table("exit\n    exit\n    beside: door")
