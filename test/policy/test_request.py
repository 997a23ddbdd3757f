"""What instructions ask for, in everyday English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.policy.sign_reading.request import Request, understand


def labels(request: Request, least: float = 0.8) -> set[str]:
    return {item.label for item in request.wanted if item.weight >= least}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Find the red EXIT sign above the double door.", "'EXIT'"),
        ("Find the name sign of the station (Gare de Thun-le-Paradis).", "'Gare de Thun-le-Paradis'"),
        ("Find the name BENJAMIN H. LATROBE printed on the panel.", "'BENJAMIN H. LATROBE'"),
        ("Find the sign that says 'Staff only'.", "'Staff only'"),
        ('Find the door labelled "Archive 2".', "'Archive 2'"),
        ("Find the red George Peabody Library sign.", "'George Peabody Library'"),
        ("Find the yellow CAUTION / PRECAUCION sign.", "'PRECAUCION'"),
        ("Which way should you walk to reach platform 3?", "platform 3"),
        ("Go to platform three.", "platform 3"),
        ("Your plane leaves from gate B12. Which way do you go?", "gate b12"),
        ("Which way is room 204?", "room 204"),
        ("Find the washroom.", "toilets"),
        ("Where can I wash my hands?", "toilets"),
        ("You want to take a train: which way should you walk?", "platform"),
        ("Where do I go to pay?", "checkout"),
        ("How do I leave the building?", "exit"),
        ("Take the elevator.", "lift"),
        ("Find the place where tickets are sold.", "tickets"),
    ],
)
def test_it_knows_what_is_asked_for(instruction: str, expected: str) -> None:
    assert expected in labels(understand(instruction))


@pytest.mark.parametrize(
    ("instruction", "absent"),
    [
        ("Find the red suitcase next to the lift.", "lift"),
        ("Find the extinguisher, not the one at the exit.", "exit"),
        ("Find the bin standing on the floor.", "floor"),
        ("Find the reading room.", "room"),
        ("Find the ticket office.", "office"),
    ],
)
def test_what_only_says_where_it_is_counts_less(instruction: str, absent: str) -> None:
    assert absent not in labels(understand(instruction))


def test_colour_and_pitch_are_taken_from_the_words() -> None:
    request = understand("Find the red name printed on the blue panel below you.")
    assert request.color == "red"
    assert request.pitch_deg is not None and request.pitch_deg < -30
    assert understand("Find the sign on the ceiling above you").pitch_deg > 30  # type: ignore[operator]
    assert understand("Find the exit").pitch_deg is None


def test_a_thing_that_no_sign_names_is_not_textual() -> None:
    assert not understand("Find the dog.").textual
    assert understand("Find the exit.").textual


@given(st.text(min_size=1, max_size=80))
def test_any_text_is_understood_somehow(instruction: str) -> None:
    request = understand(instruction)
    assert all(0.0 < item.weight <= 1.0 and item.names and all(item.names) for item in request.wanted)
    weights = [item.weight for item in request.wanted]
    assert weights == sorted(weights, reverse=True)
