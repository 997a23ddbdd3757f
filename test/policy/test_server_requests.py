"""What is sent, to whom, and what is made of the answer; and searches on several servers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest
from asking import policy, search, view, wait_until

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.model_servers import ModelServers, Session
from hvs_ros.policy.model_settings import STOP
from hvs_ros.policy.server_needs import Needs
from hvs_ros.policy.server_request import Dialect, Sampling
from hvs_ros.policy.server_settings import ServerSettings
from hvs_ros.policy.shown import show
from hvs_ros.search.action import Rotate
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.task import Task


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer() as server:
        yield server


@pytest.mark.parametrize(
    ("owner", "sent", "limit"),
    [
        ("vllm", {"stop": ["</answer>"], "include_stop_str_in_output": True}, "max_tokens"),
        ("sglang", {"stop": ["</answer>"], "no_stop_trim": True}, "max_tokens"),
        ("llamacpp", {}, "max_tokens"),
        ("google", {}, "max_tokens"),
    ],
)
def test_an_answer_ends_with_its_stop_string_whoever_serves(
    server: MockModelServer, owner: str, sent: dict[str, object], limit: str
) -> None:
    server.change(owner=owner, tail=" and then <answer>rotate(1,1)</answer>")
    asking = policy(server)
    (decision,) = search(asking)
    assert decision.raw == "<think>This is turn 1.</think><answer>rotate(30,0)</answer>"
    assert decision.action == Rotate(30, 0)
    body = dict(server.questions[-1].body)
    del body["messages"]
    assert body == {"model": "mock/HVS-3B", "temperature": 0.0, limit: 1024, **sent}
    asking.close()


@pytest.mark.parametrize("owner", ["vllm", "sglang", "llamacpp", "google"])
def test_without_a_stop_all_that_was_said_is_taken_and_goes_into_the_history(
    server: MockModelServer, owner: str
) -> None:
    """As the published runner: an answer may be followed by more, also up to the token limit."""
    server.change(owner=owner, tail=" and then <answer>rotate(1,1)</answer> and")
    asking = policy(server, stop="none")
    server.fail("cut late", times=1)
    decisions = search(asking, 2)
    said = ["<think>This is turn 1.</think><answer>rotate(30,0)</answer> and then <answer>rotate(1,1)</answer> a"]
    assert decisions[0].raw == said[0] and "finish length" in decisions[0].made and "stop none" in decisions[0].made
    assert decisions[0].status is ParseStatus.OK and decisions[0].action == Rotate(30, 0)
    assert [text for role, text in server.questions[-1].texts if role == "assistant"] == said
    assert not {"stop", "include_stop_str_in_output", "no_stop_trim"} & set(server.questions[0].body)
    assert decisions[1].raw.endswith("</answer> and") and "finish stop" in decisions[1].made
    asking.close()


def test_openai_is_sent_nothing_that_it_would_refuse() -> None:
    assert Dialect.of("api.openai.com", "system") is Dialect.OPENAI
    assert Dialect.OPENAI.stops(STOP) == {} and Dialect.OPENAI.limit_name == "max_completion_tokens"
    assert Dialect.of("localhost", "me") is Dialect.OTHER


def test_earlier_pictures_are_sent_again_unchanged_and_a_request_begins_as_the_last(server: MockModelServer) -> None:
    asking = policy(server, image_format="png")
    search(asking, 7)
    digests = [[picture.digest for picture in asked.pictures] for asked in server.questions]
    assert [len(found) for found in digests] == [1, 2, 3, 4, 5, 5, 5]
    assert all(picture.media_type == "image/png" for picture in server.questions[-1].pictures)
    for earlier, later in itertools.pairwise(digests[:5]):
        assert later[:-1] == earlier
    assert digests[6][:-1] == digests[5][1:]
    messages = [asked.body["messages"] for asked in server.questions]
    for before, after in itertools.pairwise(messages[:5]):
        assert after[: len(before)] == before
    asking.close()


def test_the_last_picture_is_the_view_of_this_turn(server: MockModelServer) -> None:
    asking = policy(server)
    search(asking, 2)
    blue, _, red = server.questions[-1].pictures[-1].colour
    assert abs(blue - 40) < 4 and abs(red - 215) < 4
    asking.close()


def test_a_dead_server_is_left_out_and_comes_back(server: MockModelServer) -> None:
    with MockModelServer() as other:
        asking = policy(other, server)
        search(asking)
        assert len(other.questions) == 1 and not server.questions
        other.stop()
        (decision,) = search(asking)
        assert decision.status is ParseStatus.OK and f"server {server.name}" in decision.made
        other.start()
        other.asked.clear()
        for member in asking._engine._servers._pool.members:  # as if it had rested for long enough
            member.rests_until = 0.0
        server.stop()
        assert search(asking)[0].status is ParseStatus.OK and other.questions
        asking.close()


def test_one_of_several_may_be_missing_at_the_start_and_is_tried_out_when_it_comes(server: MockModelServer) -> None:
    with MockModelServer() as late:
        late.stop()
        asking = policy(late, server)
        assert search(asking)[0].status is ParseStatus.OK
        late.start()
        server.stop()
        for member in asking._engine._servers._pool.members:
            member.rests_until = 0.0
        assert search(asking)[0].status is ParseStatus.OK
        assert any(asked.limit == 1 for asked in late.asked), "it was tried out first"
        asking.close()


def test_each_server_is_tried_out_and_all_serve_the_same_model(server: MockModelServer) -> None:
    with MockModelServer(models=("another",)) as other:
        with pytest.raises(PolicyUnavailableError, match=r"different models \(another, mock/HVS-3B\)"):
            policy(server, other)
        with pytest.raises(PolicyUnavailableError, match=f"{other.name}: it does not serve the model 'mock/HVS-3B'"):
            policy(server, other, model="mock/HVS-3B")


def test_a_server_that_does_not_take_us_any_more_is_replaced(server: MockModelServer) -> None:
    with MockModelServer() as other:
        asking = policy(other, server)
        search(asking)
        other.change(key="a new one")
        assert search(asking)[0].status is ParseStatus.OK and server.questions
        server.change(key="a new one")
        with pytest.raises(PolicyUnavailableError, match=r"wants a key|is not accepted"):
            search(asking)
        asking.close()


def test_many_searches_at_once_are_spread_and_stay_where_they_began(server: MockModelServer) -> None:
    server.change(delay_s=0.2)
    picture = show(view(1).image)
    messages = (Message("system", ("Search.",)), Message("user", (picture, "Where?")))

    async def run(servers: ModelServers) -> None:
        await servers.check()
        sessions = [Session() for _ in range(8)]
        for _ in range(2):
            answers = await asyncio.gather(*(servers.answer(messages, session) for session in sessions))
            assert all(answer.text.endswith("</answer>") for answer in answers)
        await servers.close()

    with MockModelServer(delay_s=0.2) as other:
        settings = ServerSettings(f"{server.base_url},{other.base_url}", timeout=20.0)
        needs = Needs(views=1, view=(160, 90), max_tokens=64)
        asyncio.run(run(ModelServers(settings, Sampling(64), needs)))
        assert [len(one.questions) for one in (server, other)] == [8, 8]


def test_a_search_that_begins_anew_tells_no_server_of_the_last_one(server: MockModelServer) -> None:
    asking = policy(server)
    search(asking, 3)
    asking.start(Task("find the lift"))
    asking.decide(view(1))
    text = str(server.questions[-1].texts)
    assert "lift" in text and "exit sign" not in text and len(server.questions[-1].pictures) == 1
    asking.close()
    wait_until(lambda: all(asked.ended == "answered" for asked in server.asked), "the end")
