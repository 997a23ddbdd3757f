"""Tests do not hear each other: each has a ROS domain of its own, in this and in every other run on the machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ros_domain import claim_domain

INIT = re.compile(r"\brclpy\.init\(\s*\)")
CHILDREN = {"lone_commander.py"}
"""Processes that a test starts in its own domain."""


def test_a_claimed_domain_is_given_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with claim_domain() as taken:
        monkeypatch.setenv("HVS_TEST_DOMAINS", f"{taken}-{taken}")
        with pytest.raises(pytest.fail.Exception, match="in use"), claim_domain():
            pass


def test_no_test_is_in_the_domain_that_everybody_has() -> None:
    files = [path for path in Path(__file__).parent.rglob("*.py") if path.name not in CHILDREN]
    assert not [str(path) for path in files if INIT.search(path.read_text(encoding="utf-8"))]
