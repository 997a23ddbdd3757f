"""Where servers are, which key they are shown, and settings that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.server_address import addresses
from hvs_ros.policy.server_settings import ServerSettings


@pytest.mark.parametrize(
    ("given", "url", "name"),
    [
        ("http://h100:8000/v1", "http://h100:8000/v1", "h100:8000"),
        ("http://h100:8000", "http://h100:8000/v1", "h100:8000"),
        ("http://h100:8000/v1/", "http://h100:8000/v1", "h100:8000"),
        ("https://gate.example.org/hvs/v1/chat/completions", "https://gate.example.org/hvs/v1", "gate.example.org"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", "[::1]:8000"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "generativelanguage.googleapis.com",
        ),
    ],
)
def test_an_address_is_read_as_people_write_it(given: str, url: str, name: str) -> None:
    (address,) = addresses(given)
    assert (address.url, address.name) == (url, name)
    assert address.encrypted == given.startswith("https")


def test_several_are_separated_by_spaces_or_commas() -> None:
    found = addresses(" http://a:1/v1, http://b:2/v1\nhttp://c:3/v1 ")
    assert [address.name for address in found] == ["a:1", "b:2", "c:3"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "base_url is empty"),
        (" , ", "base_url is empty"),
        ("h100:8000/v1", "http:// or https://"),
        ("ftp://h100/v1", "http:// or https://"),
        ("http://", "http:// or https://"),
        ("http://h100:port/v1", "no URL"),
        ("http://h100:8000 http://h100:8000/v1/", "more than once"),
    ],
)
def test_what_is_no_address_is_refused(given: str, reason: str) -> None:
    with pytest.raises(PolicyError, match=reason):
        addresses(given)


@pytest.mark.parametrize("given", ["http://me:s3cr3t@h100/v1", "http://s3cr3t@h100/v1", "http://h100/v1?key=s3cr3t"])
def test_a_key_in_an_address_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(PolicyError, match="HVS_API_KEY") as refusal:
        addresses(given)
    assert "s3cr3t" not in str(refusal.value)


def test_each_key_is_shown_to_its_own_servers_only() -> None:
    openai, other = addresses("https://api.openai.com/v1 https://gate.example.org/v1")
    both = {"OPENAI_API_KEY": "sk-openai", "HVS_API_KEY": "own"}
    assert (openai.key(both), other.key(both)) == ("sk-openai", "own")
    assert other.key({"OPENAI_API_KEY": "sk-openai"}) == "", "other programs' key is none of this server's business"
    assert openai.key({"HVS_API_KEY": "own"}) == "own"
    assert openai.key({}) == other.key({"HVS_API_KEY": " "}) == ""


@pytest.mark.parametrize("key", ["s3cr3t s3cr3t", "s3cr3t\nX: y", "s3cr3t\u2026"])
def test_what_can_be_no_key_is_refused_and_not_repeated(key: str) -> None:
    (address,) = addresses("http://h100:8000")
    with pytest.raises(PolicyError, match="HVS_API_KEY") as refusal:
        address.key({"HVS_API_KEY": key})
    assert "s3cr3t" not in str(refusal.value)


def test_this_machine_is_known() -> None:
    urls = "http://localhost:1 http://127.0.0.2:1 http://[::1]:1 http://h100:1 http://10.0.0.1:1"
    assert [address.local for address in addresses(urls)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"base_url": 7}, "base_url"),
        ({"model": 3}, "model"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"connect_timeout": "fast"}, "connect_timeout"),
        ({"retries": -1}, "retries"),
        ({"retries": 1.5}, "retries"),
        ({"verify_tls": "no"}, "verify_tls"),
        ({"probe": 1}, "probe"),
        ({"view_size": "large"}, "view_size"),
        ({"ca_file": "/nowhere/ca.pem"}, "ca_file"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(PolicyError, match=f"^{name} is"):
        ServerSettings(**settings)
