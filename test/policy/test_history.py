"""Which turns a request holds, and how much of it a server or a cache has seen before."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.history import History
from hvs_ros.policy.model_settings import Window

SYSTEM = Message("system", ("find things",))


def asked(turn: int) -> Message:
    return Message("user", (f"turn {turn}", Shown(bytes([turn]), "image/png", 1, 1), "act"))


def resumed(turn: int) -> Message:
    return Message("user", (f"from turn {turn} on", Shown(bytes([turn]), "image/png", 1, 1)))


def requests(turns: int, **how: object) -> list[tuple[Message, ...]]:
    """The request of each turn of a search."""
    history = History(SYSTEM, **how)  # type: ignore[arg-type]
    made = []
    for turn in range(1, turns + 1):
        history.ask(asked(turn), resumed(turn))
        made.append(history.messages())
        history.answered(f"answer {turn}")
    return made


def common(one: tuple[Message, ...], other: tuple[Message, ...]) -> int:
    """How many messages two requests begin with alike, of which the same objects."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


@given(
    st.integers(1, 25), st.integers(1, 8), st.data(), st.sampled_from(Window)
)
def test_any_window(turns: int, views: int, data: st.DataObject, window: Window) -> None:
    drop = data.draw(st.integers(1, views))
    for turn, request in enumerate(requests(turns, views=views, drop=drop, window=window), start=1):
        system, *rest = request
        assert system is SYSTEM
        assert [message.role for message in rest] == ["user", "assistant"] * (len(rest) // 2) + ["user"]
        shown = [picture.data[0] for message in rest for picture in message.pictures]
        assert shown == list(range(turn - len(shown) + 1, turn + 1)), "the latest views, in order, the present one last"
        assert len(shown) <= views
        least = min(turn, views if drop == 1 or window is Window.PUBLISHED else views - drop + 1)
        assert len(shown) >= least
        for question, answer in zip(rest[::2], rest[1::2], strict=False):
            assert answer.text == f"answer {question.pictures[0].data[0]}"


def test_until_the_window_is_full_each_request_begins_with_the_last_one() -> None:
    made = requests(5, views=5)
    for earlier, later in pairwise(made):
        assert later[: len(earlier)] == earlier
        assert all(a is b for a, b in zip(earlier[1:-1], later[1:], strict=False)), "the same objects"


def test_then_only_the_system_message_stays() -> None:
    made = requests(8, views=5)
    assert [common(earlier, later) for earlier, later in pairwise(made)] == [2, 4, 6, 8, 1, 1, 1]


def test_with_several_turns_left_out_at_once_most_of_it_stays() -> None:
    made = requests(12, views=5, drop=3)
    assert [common(earlier, later) for earlier, later in pairwise(made)] == [2, 4, 6, 8, 1, 6, 8, 1, 6, 8, 1]


@pytest.mark.parametrize("views", [5, 2])
def test_the_published_window(views: int) -> None:
    """The last 2 * views - 1 messages after the system message, none of them changed."""
    for turn, request in enumerate(requests(10, views=views, drop=2, window=Window.PUBLISHED), start=1):
        dialogue = [m for t in range(1, turn) for m in (asked(t), Message("assistant", (f"answer {t}",)))]
        dialogue.append(asked(turn))
        assert list(request[1:]) == dialogue[-(2 * views - 1) :]


def test_the_oldest_view_is_introduced_where_what_it_refers_to_is_left_out() -> None:
    made = requests(7, views=3)
    assert made[2][1] == asked(1), "nothing is left out yet"
    assert made[3][1] == resumed(2) and made[3][3] == asked(3)
    assert made[6][1] == resumed(5)


def test_without_other_words_it_stays_as_it_was() -> None:
    history = History(SYSTEM, views=1)
    history.ask(asked(1))
    history.answered("a")
    history.ask(asked(2))
    assert history.messages() == (SYSTEM, asked(2))


def test_a_question_that_got_no_answer_is_asked_again() -> None:
    history = History(SYSTEM)
    history.ask(asked(1))
    history.ask(asked(2))
    assert history.messages() == (SYSTEM, asked(2))


@given(st.text())
def test_an_answer_is_sent_back_as_it_came(text: str) -> None:
    history = History(SYSTEM)
    history.ask(asked(1))
    history.answered(text)
    history.ask(asked(2))
    assert history.messages()[2] == Message("assistant", (text,))
