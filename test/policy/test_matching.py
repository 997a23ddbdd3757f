"""Signs against requests: synonyms, misread letters, and numbers that must be right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rapidfuzz", reason="needs the extra 'signs'")

from hvs_ros.policy.sign_reading.matching import code_in_range, match, similar
from hvs_ros.policy.sign_reading.request import understand

ENOUGH = 0.6
"""The policy's own limit."""


def score(instruction: str, text: str) -> float:
    found = match(understand(instruction), text)
    return 0.0 if found is None else found.score


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        ("Find the restroom.", "WC"),
        ("Find the toilets.", "TOILETTES"),
        ("Find the lavatory.", "Ladies"),
        ("Find the washroom.", "Restrooms"),
        ("Find the WC.", "Toilets"),
        ("Find the way out.", "EXIT"),
        ("Find the exit.", "Way out"),
        ("Find the exit.", "WAYOUT"),
        ("Find the exit.", "Ausgang"),
        ("Find the exit.", "Sortie"),
        ("Find the exit.", "Uscita"),
        ("Find the exit.", "出口"),
        ("Find the EXIT sign.", "EEXIT"),
        ("Find the elevator.", "Lifts"),
        ("Find the ticket office.", "Fahrkarten"),
        ("Find the ticket office.", "TICKETOFFICE"),
        ("Find the information desk.", "i"),
        ("Find the café.", "COFFEE"),
        ("Find the cash desk.", "Kasse"),
        ("Where do I pay?", "CHECKOUT"),
        ("Which way to platform 3?", "Platform 3"),
        ("Which way to platform 3?", "Gleis 3"),
        ("Which way to platform 3?", "PLATFORM3"),
        ("Which way to platform 3?", "Platforms 1-4"),
        ("Which way to platform 3?", "Platforms 1 2 3"),
        ("Which way to gate B12?", "B12"),
        ("Which way to gate B12?", "Gates B1–B20"),
        ("Which way to gate B12?", "Gate B"),
        ("Which way to room 204?", "201 - 210"),
        ("Find the station's name (Gare de Thun-le-Paradis).", "GARE DE THUN LE PARADIS"),
        ("Find the name BENJAMIN H. LATROBE.", "NJAMIN H. LATROBE"),
    ],
)
def test_it_fits(instruction: str, text: str) -> None:
    assert score(instruction, text) >= ENOUGH


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        ("Which way to platform 3?", "Platform 13"),
        ("Which way to platform 3?", "Platform 30"),
        ("Which way to platform 3?", "Platforms 5-8"),
        ("Which way to platform 3?", "Gate 3"),
        ("Which way to platform 3?", "9:43 Lyon 3"),
        ("Which way to platform 13?", "Platform 3"),
        ("Which way to gate B12?", "Gate B2"),
        ("Which way to gate B12?", "Gates A1-A20"),
        ("Which way to gate B12?", "B13"),
        ("Which way to room 204?", "Room 205"),
        ("Which way to room 204?", "2040"),
        ("Find the exit.", "No exit"),
        ("Find the exit.", "Exhibition"),
        ("Find the exit.", "Entrance"),
        ("Find the lift.", "Life"),
        ("Find the ticket office.", "Office 12"),
        ("Find the room 12.", "Reading room"),
        ("Find the name BENJAMIN H. LATROBE.", "the British-born architect Benjamin"),
        ("Find the dog.", "EXIT"),
    ],
)
def test_it_does_not_fit(instruction: str, text: str) -> None:
    assert score(instruction, text) < ENOUGH


def test_the_number_decides_between_signs() -> None:
    texts = ["Platform 1", "Platform 3", "Platform 13", "Platforms", "3"]
    assert max(texts, key=lambda text: score("Which way to platform 3?", text)) == "Platform 3"


def test_the_span_says_which_part_fits() -> None:
    text = "Lockers   Toilets   Lift"
    found = match(understand("Find the restroom"), text)
    assert found is not None and text[slice(*found.span)] == "Toilets"


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 60))
def test_a_range_holds_its_numbers_and_no_others(number: int, low: int, length: int) -> None:
    assert code_in_range((str(number),), f"{low}-{low + length}") == (low <= number <= low + length)
    assert code_in_range((f"b{number}",), f"B{low} – B{low + length}") == (low <= number <= low + length)
    assert not code_in_range((f"a{number}",), f"B{low}-B{low + length}")


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_numbers_match_only_themselves(a: int, b: int) -> None:
    assert (similar(str(a), str(b)) > 0) == (a == b)
    assert (score(f"Find platform {a}", f"Platform {b}") >= ENOUGH) == (a == b)


@given(st.text(max_size=60))
def test_any_text_can_be_matched(text: str) -> None:
    found = match(understand("Which way to gate B12, past the EXIT?"), text)
    assert found is None or (0.0 <= found.score <= 1.0 and 0 <= found.span[0] < found.span[1] <= len(text))
