"""What stands below a benchmark's table: how it was made, what else was found, and what speaks against comparing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvs_ros.benchmark.accuracy import Mismatch
from hvs_ros.benchmark.analysis import Analysis, Group, Rate, Spread
from hvs_ros.benchmark.paper_results import PublishedTable
from hvs_ros.search.task import LEVEL_NAMES, TaskKind

PUBLISHED_PROTOCOL = "reference"
"""How the published figures were made: by the published code."""
NONE = "no episode"


def percent(rate: Rate, digits: int = 2) -> str:
    """Return a rate in percent as the paper writes it, halves rounded up; of an empty group, that it is one."""
    if not rate.of:
        return NONE
    parts = 10**digits  # in whole numbers: 411 of 2400 are 17.125 %, which a float may miss on either side
    whole, rest = divmod((200 * parts * rate.count + rate.of) // (2 * rate.of), parts)
    return f"{whole}.{rest:0{digits}d}"


def incomparable(analysis: Analysis, settings: Mapping[str, Any], paper: PublishedTable) -> list[str]:
    """Return what speaks against comparing a run with the published rows, a line each; empty: nothing does."""
    protocol = settings.get("protocol") or ""
    lines = []
    if protocol != PUBLISHED_PROTOCOL:
        made = f"protocol '{protocol}'" if protocol else "no protocol"
        lines.append(f"{made}: the published figures were made by the published code, protocol '{PUBLISHED_PROTOCOL}'")
    if analysis.mode is not paper.rule:
        lines.append(
            f"scored by the {analysis.mode.value} rule: the published figures by the {paper.rule.value} one, which "
            "does not look at the pitch where a target's yaw interval crosses 0"
        )
    lines += [f"deviation: {line}" for line in settings.get("deviations") or ()]
    for kind in TaskKind:
        scored = analysis.column(kind).success.of
        if not scored:
            continue
        sizes = tuple(analysis.column(kind, level).success.of for level in range(len(LEVEL_NAMES[kind])))
        if scored != paper.episodes(kind):
            lines.append(f"{scored} {kind.value} episodes instead of {paper.episodes(kind)}")
        elif sizes != paper.sizes[kind]:
            levels, published = ("/".join(map(str, found)) for found in (sizes, paper.sizes[kind]))
            lines.append(f"other levels of the {kind.value} episodes: {levels} instead of {published} (estimated)")
    return lines


def notes(analysis: Analysis, settings: Mapping[str, Any]) -> list[str]:
    """Return the lines below the table, in the order in which they matter."""
    total = analysis.total
    lines = [f"Success in % of the scored episodes, by the {analysis.mode.value} rule."]
    if analysis.resamples:
        lines[0] += f" Intervals: scenes drawn again, {analysis.resamples} times"
    lines += _protocol(settings)
    if total.counts.failed:
        failed = ", ".join(f"{count} {name}" for name, count in total.counts.failed.items())
        lines.append(f"NOT COMPLETE, in no figure, the machinery failed: {failed}")
    if not total.counts.completed:
        return lines
    return [*lines, *_figures(total, _at_once(settings))]


def _at_once(settings: Mapping[str, Any]) -> str:
    """Say how many searches waited for each other; merged runs have a number for each part, or none in common."""
    number = (settings.get("notes") or {}).get("in_flight")
    return f" ({number} searches at the same time)" if isinstance(number, int) and number > 1 else ""


def _protocol(settings: Mapping[str, Any]) -> list[str]:
    protocol, deviations = settings.get("protocol") or "", settings.get("deviations") or ()
    if not protocol:
        return ["Protocol: none, as this is no run of hvs bench"]
    if not deviations:
        return [f"Protocol: '{protocol}', kept in all that it fixes"]
    return [f"Protocol: '{protocol}', but for:", *(f"  - {line}" for line in deviations)]


def _figures(group: Group, at_once: str) -> list[str]:
    counts, mismatch, latency, tokens = group.counts, group.mismatch, group.latency, group.tokens
    lines = [
        f"Episodes: {counts.completed} in {counts.scenes} scenes; {counts.submitted} submitted "
        f"({counts.guesses} called a guess by the policy), {counts.exhausted} without a submission in time"
        + (f"; {counts.retried} only after the machinery had failed" if counts.retried else "")
    ]
    if counts.scored:
        steps = " ".join(percent(rate, 1) for rate in group.cumulative)
        lines.append(f"Found by turn 1, 2 ... {len(group.cumulative)}: {steps} %")
        if counts.submitted:
            within = ", ".join(f"within {limit}° {_share(rate)}" for limit, rate in group.errors.within.items())
            lines.append(f"Submissions, from the target's middle: {within}")
    lines.append(
        f"Turns: {group.turns.mean:.1f} on average, median {group.turns.median:g}; head travel "
        f"{_value(group.travel_deg.mean, 0)}°" + _ways(group)
    )
    statuses = ", ".join(f"{count} {name}" for name, count in group.answers.statuses.items())
    formed = f"; in the published format {_share(group.answers.well_formed)}" if group.answers.well_formed.of else ""
    lines.append(f"Answers: {statuses} ({_share(group.answers.valid)} valid){formed}")
    if counts.scored:
        lines.append(
            f"By where the head looked at the end instead: {percent(mismatch.looking)} % success; right only as "
            f"submitted {mismatch.only_submitted}, only as looked at {mismatch.only_looking}{_apart(mismatch)}"
        )
    lines.append(
        f"Seconds, median (95th percentile): to decide {_two(latency.think_s)}, to see {_two(latency.look_s)}, "
        f"an episode {_two(latency.episode_s)}{at_once}"
    )
    if tokens.prompt.count or tokens.completion.count:
        lines.append(
            f"Tokens a turn: {_value(tokens.prompt.mean, 0)} in, {_value(tokens.completion.mean, 0)} out; "
            f"in all {tokens.prompt_total} in, {tokens.completion_total} out"
        )
    return lines


def _apart(mismatch: Mismatch) -> str:
    over = ", ".join(f"over {limit}° in {_share(rate)}" for limit, rate in mismatch.over.items() if rate.of)
    return f"; submission and head apart {over}" if over else ""


def _ways(group: Group) -> str:
    if not group.detour.count:
        return ""
    found = f", {_value(group.detour_found.median, 2)} where found" if group.detour_found.count else ""
    return f", {_value(group.detour.median, 2)} times the shortest way to the target (median{found})"


def _share(rate: Rate) -> str:
    return NONE if rate.value is None else f"{100 * rate.value:.1f} %"


def _two(spread: Spread) -> str:
    return f"{_value(spread.median, 2)} ({_value(spread.p95, 2)})"


def _value(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
