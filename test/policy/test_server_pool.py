"""Which server is asked, and when one that failed is asked again; on a clock of the test's own."""

from __future__ import annotations

import email.utils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.policy.server_pool import LONGEST_REST_S, LOYALTY, Pool
from hvs_ros.policy.server_retry import LONGEST_WAIT_S, Backoff, retry_after_s


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock: Clock) -> Pool[str]:
    return Pool(["a", "b", "c"], clock)


def test_the_least_busy_is_asked_and_of_equals_the_one_asked_least(pool: Pool[str]) -> None:
    chosen = []
    for _ in range(6):
        member = pool.choose()
        pool.began(member)
        chosen.append(member.server)
    assert chosen == ["a", "b", "c"] * 2
    b = pool.members[1]
    pool.ended(b)
    assert pool.choose() is b


def test_a_search_stays_where_its_earlier_turns_are_cached(pool: Pool[str]) -> None:
    _, b, _ = pool.members
    for _ in range(LOYALTY):
        pool.began(b)
    assert pool.choose(before=b) is b
    pool.began(b)
    assert pool.choose(before=b) is not b


def test_a_dead_one_is_left_out_tried_by_one_request_and_taken_back(pool: Pool[str], clock: Clock) -> None:
    a, b, c = pool.members
    pool.failed(a, "gone")
    assert {pool.choose().server, pool.choose(before=a).server} <= {"b", "c"}
    clock.now += 1.1
    pool.failed(b, "gone")
    pool.failed(c, "gone")
    assert pool.choose() is a, "it is due"
    pool.began(a)
    assert not pool.alive(), "one request tries it, the others wait for what comes of that"
    pool.succeeded(a)
    pool.ended(a)
    assert pool.choose() is a and a.failures == 0


def test_a_server_that_is_known_to_be_well_goes_before_one_that_is_due(pool: Pool[str], clock: Clock) -> None:
    a, b, _ = pool.members
    pool.failed(a, "gone")
    clock.now += 2.0
    for member in pool.members[1:]:
        pool.began(member)
    assert pool.choose() is b


def test_when_all_are_dead_the_one_that_is_due_first_is_asked_all_the_same(pool: Pool[str], clock: Clock) -> None:
    for member in pool.members:
        pool.failed(member, "gone")
        clock.now += 0.1
    a, b, _ = pool.members
    assert pool.choose() is a
    assert pool.choose([a]) is b


def test_it_rests_longer_each_time_but_not_for_ever(pool: Pool[str], clock: Clock) -> None:
    a = pool.members[0]
    rests = []
    for _ in range(30):
        pool.failed(a, "gone")
        rests.append(a.rests_until - clock.now)
    assert rests == sorted(rests) and rests[0] < rests[1] and rests[-1] == LONGEST_REST_S


def test_one_that_asked_for_a_rest_is_not_taken_for_dead(pool: Pool[str], clock: Clock) -> None:
    a = pool.members[0]
    pool.rests(a, 5.0, "busy")
    assert pool.choose() is not a
    clock.now += 5.1
    pool.began(a)
    assert pool.alive(pool.members[1:]), "it takes any number of requests"


@given(st.floats(0.0, 60.0), st.floats(0.0, 1.0), st.none() | st.floats(0.0, 1e6))
def test_waits_grow_to_a_limit_and_are_random_in_their_second_half(
    first_s: float, part: float, asked_s: float | None
) -> None:
    backoff = Backoff(first_s, random_part=lambda: part)
    waits = [backoff.next_s(asked_s) for _ in range(12)]
    assert waits == sorted(waits) and waits[-1] <= LONGEST_WAIT_S
    assert waits[0] >= min(first_s, LONGEST_WAIT_S) / 2
    if asked_s is not None:
        assert min(waits) >= min(asked_s, LONGEST_WAIT_S)


def test_retry_after_in_all_its_forms() -> None:
    now = 1_800_000_000.0
    date = email.utils.formatdate(now + 7, usegmt=True)
    for headers, seconds in (
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": date}, 7.0),
        ({"retry-after": email.utils.formatdate(now - 7, usegmt=True)}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
    ):
        assert retry_after_s(headers, lambda: now) == seconds, headers
