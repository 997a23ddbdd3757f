from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.policy.qwen.answer_text import AnswerText

STOP = "</answer>"


class Pieces:
    """A tokenizer of which every token is a piece of a given text."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def piece(self, token: int) -> bytes:
        return self._pieces[token]


def said(pieces: list[bytes]) -> AnswerText:
    text = AnswerText(Pieces(pieces), (STOP,))  # type: ignore[arg-type]
    for token in range(len(pieces)):
        if text.add(token):
            break
    return text


@given(st.text(max_size=20), st.text(max_size=20), st.lists(st.integers(0, 90), max_size=12))
def test_it_stops_wherever_tokens_are_cut(before: str, after: str, cuts: list[int]) -> None:
    before = before.replace("<", "(")
    whole = f"{before}é🚪{STOP}{after}".encode(errors="replace")
    edges = sorted({0, len(whole), *(cut % len(whole) for cut in cuts)})
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    text = said(pieces)
    assert text.text == whole.decode().partition(STOP)[0] + STOP
    end = whole.index(STOP.encode()) + len(STOP)
    assert b"".join(pieces[: len(text.tokens) - 1]).find(STOP.encode()) < 0, "not a token later than needed"
    assert text.whole == (end in edges)


def test_half_a_character_is_no_reason_to_fail() -> None:
    text = said(["出".encode()[:2], b"x"])
    assert text.text == "�x" and text.whole and text.tokens == [0, 1]


def test_the_earliest_of_several_stops() -> None:
    text = AnswerText(Pieces([b"ab##cd**"]), ("**", "##", ""))  # type: ignore[arg-type]
    assert text.add(0) and text.text == "ab##" and not text.whole
