"""docs/policies.md and docs/jetson.md name every setting of the policies that run a model, with its default."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.policy.registry import policy_settings

DOCS = Path(__file__).parents[2] / "docs"
COMMON = {field.name: field.default for field in fields(ModelSettings)}


def own(policy: str) -> dict[str, object]:
    return {name: default for name, default in policy_settings(policy).items() if name not in COMMON}


@pytest.mark.parametrize(
    ("document", "settings"),
    [("policies.md", COMMON), ("policies.md", own("torch")), ("jetson.md", own("onnx"))],
    ids=["common", "torch", "onnx"],
)
def test_every_setting_is_there_with_its_default(document: str, settings: dict[str, object]) -> None:
    text = (DOCS / document).read_text(encoding="utf-8")
    for name, default in settings.items():
        row = re.search(rf"^\|[^|]*`{name}`[^|]*\|([^|]*)\|", text, re.MULTILINE)
        assert row is not None, name
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert (shown.lower() if isinstance(default, bool) else shown) in row[1], name
