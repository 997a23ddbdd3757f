"""Keys and passwords among the settings get into no record."""

from __future__ import annotations

import json

import pytest

from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.confidential import HIDDEN, without_secrets
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.registry import create_policy
from hvs_ros.recording import from_search
from hvs_ros.recording.info import EpisodeInfo
from hvs_ros.search.episode import Outcome, SearchResult
from hvs_ros.search.task import Task

KEY = "s3cr3t"


class Picky:
    """A policy that refuses whatever it is given."""

    def __init__(self, api_key: str = "") -> None:
        raise ValueError("no such model")


@pytest.mark.parametrize("name", ["api_key", "policy.api_key", "token", "accessToken", "OPENAI_KEY", "Password"])
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert without_secrets({name: KEY}) == {name: HIDDEN}
    assert without_secrets({"nodes": {"search_policy": {name: KEY}}}) == {"nodes": {"search_policy": {name: HIDDEN}}}


@pytest.mark.parametrize("name", ["max_tokens", "keyboard", "monkey", "tokenizer", "turnkey_mode", "seed"])
def test_what_only_sounds_like_one_is_shown(name: str) -> None:
    assert without_secrets({name: 512}) == {name: 512}


def test_that_there_is_no_key_is_no_secret() -> None:
    assert without_secrets({"api_key": "", "token": None}) == {"api_key": "", "token": None}


def test_no_record_holds_it() -> None:
    settings = {"api_key": KEY, "max_tokens": 512}
    file = {"/**": {"ros__parameters": {"policy": settings, "policy.api_key": KEY}}}
    info = EpisodeInfo("a", "find it", "object", 10, "p", settings, nodes={"/search_policy": {"policy.api_key": KEY}})
    ended = SearchResult(Outcome.TURNS_EXHAUSTED, "", None, False, None, ())
    records = [
        info.to_json(),
        RunSettings("p", settings, parameters=file).to_json(),
        dict(from_search(ended, Task("find it"), parameters=settings).parameters),
    ]
    for record in records:
        text = json.dumps(record)
        assert KEY not in text
        assert "512" in text


def test_a_refusal_does_not_tell_it() -> None:
    with pytest.raises(PolicyError, match="no such model") as refusal:
        create_policy(f"{__name__}:Picky", {"api_key": KEY})
    assert KEY not in str(refusal.value)


def test_a_password_in_a_url_is_hidden_wherever_it_stands() -> None:
    shown = without_secrets({"base_url": f"http://me:{KEY}@h100/v1, https://{KEY}@h200/v1", "mail": "a@b.org"})
    assert shown == {"base_url": f"http://{HIDDEN}@h100/v1, https://{HIDDEN}@h200/v1", "mail": "a@b.org"}
