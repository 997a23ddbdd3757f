"""docs/serving.md names every setting of the policy `server`, with its default."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from hvs_ros.policy.server_address import KEY_VARIABLE, OPENAI_KEY_VARIABLE
from hvs_ros.policy.server_settings import ServerSettings

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")


def test_every_setting_is_there_with_its_default() -> None:
    for field in fields(ServerSettings):
        row = re.search(rf"^\| `{field.name}` \|([^|]*)\|", TEXT, re.MULTILINE)
        assert row is not None, field.name
        if isinstance(field.default, (bool, int, float)):
            default = str(field.default).lower() if isinstance(field.default, bool) else f"{field.default:g}"
            assert row[1].strip() == default, field.name


def test_the_keys_are_there() -> None:
    assert KEY_VARIABLE in TEXT and OPENAI_KEY_VARIABLE in TEXT
