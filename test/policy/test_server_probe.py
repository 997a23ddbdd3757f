"""What a server must have is found out when the policy is made, with an error that says what to start it with (S1)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asking import SIZE, policy, search

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.server import ServerPolicy
from hvs_ros.policy.server_needs import Needs
from hvs_ros.policy.server_request import Dialect
from hvs_ros.search.decision import ParseStatus

FULL = {"view_size": "1920x1080"}


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer() as server:
        yield server


def refusal(server: MockModelServer, **settings: object) -> str:
    """Why no policy can be made with this server, at its first attempt."""
    with pytest.raises(PolicyUnavailableError) as error:
        policy(server, **settings)
    assert server.name in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


def test_the_only_model_is_taken(server: MockModelServer) -> None:
    asking = policy(server)
    assert asking.describe()["model"] == "mock/HVS-3B"
    assert search(asking)[0].status is ParseStatus.OK
    asking.close()


def test_a_model_that_is_not_served_is_told_apart_from_those_that_are(server: MockModelServer) -> None:
    server.change(models=("humanoid-vstar/HVS-3B", "Qwen/Qwen2.5-VL-7B-Instruct"))
    assert "several models (humanoid-vstar/HVS-3B, Qwen/Qwen2.5-VL-7B-Instruct); give one's name" in refusal(server)
    reason = refusal(server, model="humanoid-vstar/HVS-3b")
    assert "did you mean 'humanoid-vstar/HVS-3B'?" in reason
    assert "does not serve the model 'gpt-4o'; it serves humanoid-vstar/HVS-3B, Qwen" in refusal(server, model="gpt-4o")
    server.change(models=())
    assert "serves no model" in refusal(server)


def test_geminis_models_have_two_names(server: MockModelServer) -> None:
    server.change(models=("models/gemini-2.5-pro", "gemini-2.5-pro"), owner="google", context=0)
    asking = policy(server, model="gemini-2.5-pro")
    assert search(asking)[0].status is ParseStatus.OK
    asking.close()


@pytest.mark.parametrize(("limit", "views", "fits"), [(1, 5, False), (4, 5, False), (5, 5, True), (2, 2, True)])
def test_s1_an_image_limit_is_met_at_once_and_the_flag_is_named(
    server: MockModelServer, limit: int, views: int, fits: bool
) -> None:
    server.change(image_limit=limit)
    if fits:
        policy(server, views=views).close()
        assert max(len(asked.pictures) for asked in server.asked) == views
        return
    reason = refusal(server, views=views)
    assert f"At most {limit} image(s)" in reason
    assert f"""--limit-mm-per-prompt '{{"image": {views}}}'""" in reason and "fewer views" in reason


@pytest.mark.parametrize(
    ("owner", "flag"), [("vllm", "--max-model-len"), ("sglang", "--context-length"), ("llamacpp", "--ctx-size")]
)
def test_a_context_that_is_too_small_is_met_at_once_and_the_flag_is_named(
    server: MockModelServer, owner: str, flag: str
) -> None:
    server.change(owner=owner, context=8192)
    reason = refusal(server, **FULL)
    assert "holds 8192 tokens" in reason and "5 views of 1920x1080 (2693 tokens each)" in reason
    assert f"{flag} 16384" in reason
    for settings in ({"views": 2}, {"view_size": "960x540"}):
        policy(server, **{**FULL, **settings}).close()
    server.change(context=16384)
    policy(server, **FULL).close()


def test_the_estimate_is_qwens_rule() -> None:
    needs = Needs(views=5, view=(1920, 1080), max_tokens=1024)
    assert (needs.qwen_view.seen, needs.qwen_view.tokens) == ((1932, 1092), 2691)
    assert 14_900 <= needs.tokens() - 1024 <= 15_500, "about 14.9k were measured"
    assert Needs(5, (1280, 720), 1024).qwen_view.tokens == 1196
    assert needs.context_problem(32768, Dialect.VLLM) == ""


def test_a_request_that_grows_too_long_names_the_flag_too(server: MockModelServer) -> None:
    asking = policy(server)
    server.change(context=1100)
    with pytest.raises(PolicyUnavailableError, match=r"maximum context length.*--max-model-len"):
        search(asking)
    asking.close()


def test_a_server_without_a_list_of_models_can_be_used_by_name(server: MockModelServer) -> None:
    server.change(lists_models=False)
    assert "set probe to false" in refusal(server)
    with pytest.raises(PolicyError, match="give the model's name"):
        policy(server, probe=False)
    asked = len(server.asked)
    asking = policy(server, probe=False, model="mock/HVS-3B")
    assert len(server.asked) == asked, "nothing was tried out"
    assert search(asking)[0].status is ParseStatus.OK
    asking.close()


def test_s2_what_is_sent_and_what_becomes_of_it_is_recorded(server: MockModelServer) -> None:
    asking = policy(server)
    first, second = search(asking, 2)
    pictures = server.questions[-1].pictures
    assert [(picture.width, picture.height) for picture in pictures] == [SIZE, SIZE]
    sent = sum(picture.size for picture in pictures) / 1000
    assert f"2 pictures in {sent:.0f} kB" in second.made
    assert "160x90 seen as 168x84, 18 image tokens" in second.made and "JPEG quality 85 4:2:0" in second.made
    assert first.usage.image_tokens == 18, "as the server counted it"
    assert second.usage.prompt_tokens == server.questions[-1].prompt_tokens
    assert second.usage.completion_tokens and "prompt tokens cached" in second.made
    asking.close()


def test_s2_a_server_that_shrinks_pictures_is_noticed(server: MockModelServer) -> None:
    server.change(max_pixels=640 * 360)
    asking = policy(server, **FULL)
    assert asking.describe()["note"] == "this server makes 264 tokens of a view of 1920x1080"
    (decision,) = search(asking, size=(1920, 1080))
    assert decision.usage.image_tokens == 264 and "makes 264 tokens" in decision.made
    asking.close()


def test_a_server_that_does_not_look_at_pictures(server: MockModelServer) -> None:
    server.change(owner="llamacpp", image_limit=0)
    assert "--limit-mm-per-prompt" in refusal(server)
    assert "--mmproj" in Needs(5, (64, 64), 9).advice("image input is not supported - hint: mmproj", Dialect.LLAMACPP)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(PolicyUnavailableError, match=r"'openai' .*pip install -e '\.\[server\]'"):
        ServerPolicy(base_url="http://127.0.0.1:9/v1")
