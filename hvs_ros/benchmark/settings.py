"""What a run was done with, as it stands in the first line of its results file.

Two runs may only be joined into one file when nothing differs that could change a result; ``differences`` names what
does. What cannot, such as the machine or where the data set lies, is kept with them as notes and never compared. How
``hvs sim`` selects and scores episodes is not part of it: neither changes what happened in an episode. A benchmark's
rule and order are: its figures mean nothing without them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any

from hvs_ros.confidential import without_secrets

FORMAT = 1
"""Of the results file."""

NOTES = "notes"
"""The part of a file's settings that is never compared."""

MACHINE_FACTS = frozenset({"address", "context", "device", "gpu", "provider", "servers", "threads"})
"""What a policy tells of the machine that it runs on; two of them may share a run."""

MACHINE_SETTINGS = (
    frozenset({"base_url", "ca_file", "connect_timeout", "probe", "retries", "retry_wait", "timeout", "verify_tls"})
    | {"device", "provider", "require_gpu", "reuse", "threads"}
    | {"tty"}
)
"""What a policy is told of the machine that it runs on, and how patient it is with a server."""


@dataclass(frozen=True)
class RunSettings:
    """All that decides a result, except the episode.

    Attributes:
        policy: name.
        policy_settings: keyword arguments of the policy.
        camera: [width, height] in pixels and hfov_deg.
        view: how views are made: sampling, supersampling.
        max_turns: for every task; None: each task's own.
        run: "graph" (through ROS) or "in-process".
        motion: how the head moves.
        parameters: of the nodes, as given in a file.
        versions: of the packages that take part.
        protocol: "paper" or "reference"; empty, as for the following, where the run is no benchmark.
        scoring: the rule of success that counts.
        seed: of the order of the episodes; None: by scene.
        deviations: what is done otherwise than the protocol says, a line each.
        facts: what the policy tells of itself: model, runtime, prompts and their hash.
        notes: what changes no result: the machine, the folder of the data set, how many searches at once.
    """

    policy: str
    policy_settings: Mapping[str, Any] = field(default_factory=dict)
    camera: Mapping[str, Any] = field(default_factory=dict)
    view: Mapping[str, Any] = field(default_factory=dict)
    max_turns: int | None = None
    run: str = "in-process"
    motion: str = "instant"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    protocol: str = ""
    scoring: str = ""
    seed: int | None = None
    deviations: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def with_deviations(self, deviations: Iterable[str]) -> RunSettings:
        """Return the settings with these deviations from their protocol."""
        return replace(self, deviations=tuple(deviations))

    def with_facts(self, described: Mapping[str, Any]) -> RunSettings:
        """Return the settings with what a policy tells of itself; what it tells of its machine is noted."""
        machine = {name: value for name, value in described.items() if name in MACHINE_FACTS}
        facts = {name: value for name, value in described.items() if name not in MACHINE_FACTS}
        return replace(self, facts={**self.facts, **facts}, notes={**self.notes, **machine})

    def with_notes(self, notes: Mapping[str, Any]) -> RunSettings:
        """Return the settings with further notes."""
        return replace(self, notes={**self.notes, **notes})

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        values: dict[str, Any] = {
            "policy": self.policy,
            "policy_settings": without_secrets(self.policy_settings),
            "camera": dict(self.camera),
            "view": dict(self.view),
            "max_turns": self.max_turns,
            "run": self.run,
            "motion": self.motion,
            "parameters": without_secrets(self.parameters),
            "versions": dict(self.versions),
        }
        # Only where there are any: a run of hvs sim is written as ever, and its older files can be continued.
        if self.protocol:
            values |= {"protocol": self.protocol, "scoring": self.scoring, "seed": self.seed}
            values |= {"deviations": list(self.deviations)}
        if self.facts:
            values["facts"] = without_secrets(self.facts)
        if self.notes:
            values[NOTES] = without_secrets(self.notes)
        # Tuples become lists, and what is no text (a file name that is not UTF-8) a question mark, as read back.
        text = json.dumps(values, ensure_ascii=False).encode(errors="replace")
        return json.loads(text)  # type: ignore[no-any-return]


def differences(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what differs between two settings and could change a result, a line each: ``name: was X, is Y now``.

    Notes are passed over, and what two different policies are set to and tell of themselves. Of a benchmark also what
    the policy was told of its machine, as the parts of one run may be made on several, and where its prompts lie when
    their hash is known.
    """
    passed: set[str] = set()
    if "protocol" in earlier and "protocol" in now:
        passed |= MACHINE_SETTINGS
    if all("prompts_sha256" in settings.get("facts", {}) for settings in (earlier, now)):
        passed.add("prompts")
    left_out = {NOTES}
    if earlier.get("policy") != now.get("policy"):
        # Each has its own: a list of all of them would bury what else differs.
        left_out |= {"policy_settings", "facts"}
    return _differences(_compared(earlier, left_out, passed), _compared(now, left_out, passed), "")


def _compared(settings: Mapping[str, Any], left_out: set[str], passed: set[str]) -> dict[str, Any]:
    compared = {name: value for name, value in settings.items() if name not in left_out}
    policy = compared.get("policy_settings")
    if isinstance(policy, Mapping):
        compared["policy_settings"] = {name: value for name, value in policy.items() if name not in passed}
    return compared


def _differences(earlier: Mapping[str, Any], now: Mapping[str, Any], prefix: str) -> list[str]:
    lines: list[str] = []
    for key in dict.fromkeys([*earlier, *now]):
        before, after = earlier.get(key), now.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines += _differences(before, after, f"{prefix}{key}.")
        elif before != after:
            lines.append(f"{prefix}{key}: was {_shown(before)}, is {_shown(after)} now")
    return lines


def installed_versions(policy: str) -> dict[str, str]:
    """Return the versions of what makes pictures and decisions."""
    versions = {"hvs_ros": package_version()}
    for module in ("numpy", "cv2"):
        with contextlib.suppress(ImportError):
            versions[module] = str(__import__(module).__version__)
    for point in entry_points(group="hvs_ros.policies"):
        if point.name == policy and point.dist is not None:
            versions[point.dist.name] = point.dist.version
    return versions


def package_version() -> str:
    """Return the version of hvs_ros."""
    try:
        return version("hvs_ros")
    except PackageNotFoundError:
        return "source checkout"


def _shown(value: Any) -> str:
    return "not set" if value is None else json.dumps(value)
