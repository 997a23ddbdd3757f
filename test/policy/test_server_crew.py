"""Many searches that ask model servers at once: each as it would be alone, and nothing holds them up but the server."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asking import QUICK, policy, search, view

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.crew import Searcher
from hvs_ros.policy.crews import make_crew
from hvs_ros.policy.server_request import Dialect, Sampling, chat_body
from hvs_ros.policy.shown import show
from hvs_ros.search.decision import Decision, ParseStatus
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task

SCRIPT = "rotate(30,0); rotate(-20,5); raw:I wonder.; rotate(7,0); rotate(8,0); rotate(9,0); submit(60,0)"


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer(script=SCRIPT) as server:
        yield server


def crew(*servers: MockModelServer, size: int | None = None, **settings: Any) -> Any:
    given = {"base_url": " ".join(server.base_url for server in servers), **QUICK, **settings}
    return make_crew("server", given, size)


async def searched(searcher: Searcher, number: int, turns: int) -> list[Decision]:
    await searcher.start(Task(f"find exit {number}"))
    return [await searcher.decide(view(turn)) for turn in range(1, turns + 1)]


async def until(condition: Callable[[], object], what: str, limit_s: float = 20.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"waited {limit_s:g} s in vain for {what}"
        await asyncio.sleep(0.005)


def test_each_of_many_searches_is_as_it_would_be_alone(server: MockModelServer) -> None:
    asking = policy(server)
    expected = [(d.action, d.raw, d.status, d.thought) for d in search(asking, 7)]
    asking.close()
    alone = [asked.texts for asked in server.questions]
    server.asked.clear()

    async def run() -> None:
        many = crew(server, size=16)
        await many.open()
        threads = threading.active_count()
        found = await asyncio.gather(*(searched(many.searcher(), number, 7) for number in range(16)))
        assert threading.active_count() - threads < 16, "no thread waits for an answer"
        await many.close()
        for number, decisions in enumerate(found):
            assert [(d.action, d.raw, d.status, d.thought) for d in decisions] == expected, f"search {number}"
            assert decisions[-1].usage.prompt_tokens and f"server {server.name}" in decisions[-1].made

    asyncio.run(run())
    for number in range(16):
        name = f"find exit {number}\n"
        told = [asked.texts for asked in server.questions if name in asked.texts[1][1]]
        mine = [[(role, text.replace(name, "find the exit sign\n")) for role, text in texts] for texts in told]
        assert mine == alone, f"search {number} is told of no other"


def test_all_of_them_are_in_flight_at_the_same_time(server: MockModelServer) -> None:
    server.change(delay_s=2.0)

    async def run() -> None:
        many = crew(server, size=150, probe=False, model="mock/HVS-3B")
        await many.open()
        searches = [asyncio.create_task(searched(many.searcher(), number, 1)) for number in range(150)]
        await until(lambda: sum(not asked.ended for asked in server.asked) == 150, "150 requests at once")
        await asyncio.gather(*searches)
        await many.close()

    asyncio.run(run())


def test_a_search_that_is_given_up_is_told_to_the_server_and_its_searcher_begins_anew(server: MockModelServer) -> None:
    async def run() -> None:
        many = crew(server, size=2)
        await many.open()
        first, second = many.searcher(), many.searcher()
        with pytest.raises(RuntimeError, match="all 2 searchers"):
            many.searcher()
        server.fail("hang", times=1)
        giving_up = asyncio.create_task(searched(first, 1, 1))
        await until(lambda: server.questions and server.questions[-1].ended == "hang", "the request")
        giving_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await giving_up
        await until(lambda: server.canceled == 1, "the server to be told")
        for decisions in await asyncio.gather(searched(first, 2, 2), searched(second, 3, 2)):
            assert [d.status for d in decisions] == [ParseStatus.OK] * 2
        assert "exit 1" not in str(server.questions[-1].texts)
        await many.close()

    asyncio.run(run())


def test_failures_have_the_names_that_a_search_knows_and_spare_the_others(server: MockModelServer) -> None:
    async def run() -> None:
        many = crew(server, size=3, retries=0)
        await many.open()
        first, second, third = (many.searcher() for _ in range(3))
        for fault, outcome, reason in (
            ("500", Outcome.POLICY_UNAVAILABLE, "HTTP 500"),
            ("filtered", Outcome.POLICY_FAILED, "content filter"),
        ):
            server.fail(fault, times=1)
            results = await asyncio.gather(
                *(searched(one, 1, 1) for one in (first, second, third)), return_exceptions=True
            )
            failures = [result for result in results if isinstance(result, SearchFailure)]
            assert len(failures) == 1 and failures[0].outcome is outcome and reason in str(failures[0])
            assert sum(isinstance(result, list) for result in results) == 2
        assert (await searched(first, 1, 1))[0].status is ParseStatus.OK
        await many.close()

    asyncio.run(run())


def test_what_it_tells_of_itself(server: MockModelServer) -> None:
    async def run() -> None:
        many = crew(server, temperature=0.5, stop="none")
        assert many.size == 64
        with pytest.raises(RuntimeError, match="not open"):
            many.describe()
        await many.open()
        about = many.describe()
        await many.close()
        assert about["model"] == "mock/HVS-3B" and about["runtime"] == "vllm" and about["stop"] == "none"
        assert about["sampling"] == "temperature 0.5 and at most 1024 tokens" and len(about["prompts_sha256"]) == 64

    asyncio.run(run())


def test_what_cannot_be_is_said_before_anything_is_searched(server: MockModelServer) -> None:
    with pytest.raises(PolicyError, match="base_url is empty"):
        make_crew("server", {})
    with pytest.raises(PolicyError, match="timeout is -1"):
        crew(server, timeout=-1)
    with pytest.raises(PolicyError, match="no setting sped"):
        crew(server, sped=1)
    with pytest.raises(PolicyError, match="0 searches at the same time"):
        crew(server, size=0)
    with pytest.raises(PolicyUnavailableError, match="it does not serve the model 'other'"):
        asyncio.run(crew(server, model="other").open())


def test_a_body_is_what_the_messages_say_and_a_picture_is_encoded_once() -> None:
    picture = show(view(1).image, "png")
    words = 'Find the "Exit" \\ sign,\n\x00 größer 🚪.'
    messages = (
        Message("system", (words,)),
        Message("user", ("", picture, words)),
        Message("assistant", ("",)),
        Message("user", (picture,)),
    )
    body = json.loads(chat_body(messages, model="a/b", sampling=Sampling(7, 0.5), dialect=Dialect.SGLANG))
    shown = {"type": "image_url", "image_url": {"url": picture.data_url.decode()}}
    assert body == {
        "model": "a/b",
        "temperature": 0.5,
        "max_tokens": 7,
        "stop": ["</answer>"],
        "no_stop_trim": True,
        "messages": [
            {"role": "system", "content": words},
            {"role": "user", "content": [{"type": "text", "text": ""}, shown, {"type": "text", "text": words}]},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": [shown]},
        ],
    }
    assert picture.data_url is picture.data_url
