#!/usr/bin/env python3
"""Many searches in a row on a robot's twin: none stalls, nothing leaks, every cancellation is heard.

    python benchmarks/soak.py                           300 searches on iCub's twin, about ten minutes
    python benchmarks/soak.py --searches 60 --robot stretch

The nodes are those of ``hvs real --twin``. Each search makes three small moves and submits; every tenth is canceled at
a random moment, in turns while the head moves and while the policy thinks. Checked are

    ends        each search ends in time, SUBMITTED or, when it was canceled, CANCELED; the next one is accepted
    cancel      the cancellation is acknowledged within 200 ms, and the head comes to rest and holds: by what the twin
                says of its joints, not by what the head says
    leak        memory of its own (RssAnon), threads and open files of each node do not grow
    quiet       no node reports a bug or ends

The exit code is 1 when a check fails.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvs_ros.bringup import Bringup, local_environment, real

POLICY = "hvs_ros.mock.policy:ScriptedPolicy"
SCRIPT = "wait(0.1); rotate(6,3); wait(0.1); rotate(-12,-6); wait(0.1); rotate(6,3); wait(0.1); submit"
MOVES = 3
PARAMETERS: dict[str, dict[str, Any]] = {
    "neck_twin": {"width": 320, "height": 240},
    "robot_head": {"width": 320, "height": 180},
    "search_policy": {"policy.script": SCRIPT},
}
CANCEL_EVERY = 10
ENDS_S = 20.0
CANCEL_S = 0.2
REST_S = 2.0
HOLD_S, HOLD_RAD = 0.4, math.radians(0.3)
SAMPLE_EVERY = 10
LEAK_MB = 3.0
"""Per 100 searches; what allocators and pools take once is less, over hundreds of them."""
LEAK_FROM = 100
"""With fewer searches growth is shown but not judged: pools are still filling up."""
POOL = 4
"""So many more threads or files are a pool that has grown to its size."""


@dataclass
class Usage:
    """What a process holds."""

    own_mb: float
    rss_mb: float
    threads: int
    files: int

    @classmethod
    def of(cls, pid: int) -> Usage:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        own, rss = (int(status[name].split()[0]) / 1024 for name in ("RssAnon", "VmRSS"))
        return cls(own, rss, int(status["Threads"]), len(os.listdir(f"/proc/{pid}/fd")))


@dataclass
class Figures:
    """What was measured, and what went wrong."""

    outcomes: dict[str, int] = field(default_factory=dict)
    searches_s: list[float] = field(default_factory=list)
    moves_s: list[float] = field(default_factory=list)
    looks_s: list[float] = field(default_factory=list)
    cancels_s: dict[str, list[float]] = field(default_factory=lambda: {"moving": [], "thinking": []})
    rests_s: list[float] = field(default_factory=list)
    usage: dict[str, list[tuple[int, Usage]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def main() -> int:
    options = _options()
    os.environ.update(local_environment())
    os.environ["ROS_DOMAIN_ID"] = str(options.domain)
    chance = random.Random(options.seed)
    figures = Figures()

    def on_line(name: str, line: str) -> None:
        if "Traceback" in line or "is a bug" in line:
            figures.failures.append(f"{name} said: {line}")
        if options.verbose:
            print(f"[{name}] {line}", file=sys.stderr)

    head = PARAMETERS["robot_head"] | {"joint_state_timeout": options.joint_state_timeout}
    parameters = PARAMETERS | {"robot_head": head}
    specs = real(robot=options.robot, twin=True, policy=POLICY, parameters=parameters)
    began = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt), Bringup(specs, on_line=on_line) as nodes, _Client() as client:
        client.wait_until_ready(nodes.trouble)
        for number in range(1, options.searches + 1):
            canceled = "" if number % CANCEL_EVERY else ("moving", "thinking")[number // CANCEL_EVERY % 2]
            try:
                _search(client, figures, chance, canceled)
            except SoakError as error:
                figures.failures.append(f"search {number}: {error}")
                _progress(figures.failures[-1] + "\n")
            if trouble := nodes.trouble():
                figures.failures.append(trouble)
                break
            if number % SAMPLE_EVERY == 0:
                for child in nodes.children:
                    figures.usage.setdefault(child.name, []).append((number, Usage.of(child.pid)))
                _progress(f"{number} of {options.searches} searches, {len(figures.failures)} failures")
    _progress("")
    _judge_growth(figures)
    _report(options, figures, time.monotonic() - began)
    return int(bool(figures.failures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=300, help="how many")
    parser.add_argument("--robot", default="icub", help="whose twin: a name in config/robots/, or a YAML file")
    parser.add_argument("--domain", type=int, default=88, help="ROS_DOMAIN_ID")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of cancellation")
    parser.add_argument(
        "--joint-state-timeout",
        type=float,
        default=0.5,
        help="of the head [s]; more where the machine does other things as well, which may keep a node waiting so long",
    )
    parser.add_argument("--verbose", action="store_true", help="show what the nodes print")
    return parser.parse_args()


class SoakError(Exception):
    """A search did not go as it must."""


class _Client:
    """Sends searches, and hears what the twin's head truly does."""

    def __enter__(self) -> _Client:
        from action_msgs.srv import CancelGoal
        from hvs_interfaces.action import Search
        from hvs_interfaces.msg import HeadPose

        from hvs_ros.nodes.action_caller import ActionCaller
        from hvs_ros.nodes.spinning import spinning_node

        self._stack = contextlib.ExitStack()
        self.node = self._stack.enter_context(spinning_node("soak"))
        self.changed = threading.Condition()
        self.caller = ActionCaller(self.node, Search, "search", self.changed)
        self._stack.callback(self.caller.close)
        # The bare service, to know when the cancellation was acknowledged.
        self._cancel = self.node.create_client(CancelGoal, "search/_action/cancel_goal")
        self.truth: Any = None
        self.node.create_subscription(HeadPose, "twin/neck_twin/truth", self._on_truth, 10)
        self.state: tuple[int, int] = (0, 0)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def wait_until_ready(self, trouble: Callable[[], str]) -> None:
        from hvs_ros.nodes.head_watch import HeadWatch

        HeadWatch(self.node, trouble=trouble).wait(60.0, print)
        self.caller.expect_life()
        self.wait(self.caller.answers, 20.0, "the search action to answer")
        self.wait(lambda: self.truth is not None, 20.0, "what the twin says of its joints")

    def wait(self, condition: Callable[[], object], limit_s: float, what: str) -> None:
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end:
                raise SoakError(f"waited {limit_s:g} s for {what}")
            with self.changed:
                self.changed.wait(0.005)

    def send(self) -> Any:
        self.state = (0, 0)
        goal = self.caller.goal()
        goal.instruction, goal.max_turns = "soak", MOVES + 1
        return self.caller.send(goal, self._on_feedback)

    def cancel(self, remote: Any) -> float | None:
        """Cancel a search and return how long the acknowledgement took [s]; None: the search had just ended."""
        from action_msgs.srv import CancelGoal

        request = CancelGoal.Request()
        request.goal_info.goal_id = remote.handle.goal_id
        heard: list[float] = []
        sent = time.monotonic()
        future = self._cancel.call_async(request)
        future.add_done_callback(lambda _: heard.append(time.monotonic()))
        self.wait(lambda: heard, 10.0, "the acknowledgement of a cancellation")
        if not future.result().goals_canceling:
            with contextlib.suppress(SoakError):
                self.wait(lambda: remote.ended, CANCEL_S, "")
            if not remote.ended:
                raise SoakError("the cancellation was refused")
            return None
        return heard[0] - sent

    def _on_feedback(self, feedback: Any) -> None:
        with self.changed:
            self.state = (feedback.state.state, feedback.state.turn)
            self.changed.notify_all()

    def _on_truth(self, pose: Any) -> None:
        with self.changed:
            self.truth = pose
            self.changed.notify_all()


def _search(client: _Client, figures: Figures, chance: random.Random, canceled: str) -> None:
    """Search once.

    Args:
        client: asks.
        figures: gets what is measured.
        chance: decides when it is canceled.
        canceled: "" or during what it is.

    Raises:
        SoakError: it did not go as it must.
    """
    from action_msgs.msg import GoalStatus

    from hvs_ros.nodes.search_messages import search_record

    began = time.monotonic()
    remote = client.send()
    if canceled and not _cancel(client, remote, figures, chance, canceled):
        canceled = ""
    client.wait(lambda: remote.ended, ENDS_S, "the end of a search")
    if not remote.accepted:
        raise SoakError("the goal was not accepted")
    record = search_record(remote.result)
    outcome = record.outcome.name
    figures.outcomes[outcome] = figures.outcomes.get(outcome, 0) + 1
    figures.moves_s += [turn.times.move_s for turn in record.turns if turn.move is not None]
    figures.looks_s += [turn.times.look_s for turn in record.turns]
    wanted = ("CANCELED", GoalStatus.STATUS_CANCELED) if canceled else ("SUBMITTED", GoalStatus.STATUS_SUCCEEDED)
    if (outcome, remote.status) != wanted:
        raise SoakError(f"ended {outcome}, goal status {remote.status}, instead of {wanted}: {record.message}")
    if canceled:
        figures.rests_s.append(_rest(client))
    else:
        figures.searches_s.append(time.monotonic() - began)


def _cancel(client: _Client, remote: Any, figures: Figures, chance: random.Random, when: str) -> bool:
    """Cancel a search; False: it was over before, which happens where the machine is busy."""
    from hvs_interfaces.msg import SearchState

    phase = (SearchState.MOVING if when == "moving" else SearchState.THINKING, chance.randint(1, MOVES))
    client.wait(lambda: client.state == phase or remote.ended, ENDS_S, f"a search that is {when}")
    time.sleep(chance.uniform(0.0, 0.3 if when == "moving" else 0.08))
    took = client.cancel(remote)
    if took is None:
        return False
    figures.cancels_s[when].append(took)
    if took > CANCEL_S:
        raise SoakError(f"the cancellation while {when} was acknowledged after {1e3 * took:.0f} ms")
    return True


def _rest(client: _Client) -> float:
    """See that the neck rests and holds, and return after how long it did [s]."""
    began = time.monotonic()
    client.wait(lambda: client.truth.settled, REST_S, "a neck at rest after a cancellation")
    rested = time.monotonic()
    first = client.truth
    while time.monotonic() < rested + HOLD_S:
        now = client.truth
        off = max(abs(math.remainder(now.yaw - first.yaw, 2 * math.pi)), abs(now.pitch - first.pitch))
        if off > HOLD_RAD:
            raise SoakError(f"after a cancellation the head did not hold: it moved by {math.degrees(off):.1f}°")
        time.sleep(0.01)
    return rested - began


def _judge_growth(figures: Figures) -> None:
    for name, samples in figures.usage.items():
        settled = [sample for sample in samples if sample[0] >= LEAK_FROM // 2]
        if not settled or samples[-1][0] < LEAK_FROM:
            continue
        if (growth := _growth_mb(settled)) > LEAK_MB:
            figures.failures.append(f"{name} grows by {growth:.1f} MB per 100 searches")
        first, last = settled[0][1], settled[-1][1]
        for what, more in (("threads", last.threads - first.threads), ("open files", last.files - first.files)):
            if more > POOL:
                figures.failures.append(f"{name} has {more} more {what} than after {settled[0][0]} searches")


def _growth_mb(samples: list[tuple[int, Usage]]) -> float:
    """Return the growth of a process's own memory [MB per 100 searches]: the median slope of all pairs (Theil-Sen)."""
    slopes = [
        100 * (b.own_mb - a.own_mb) / (later - earlier)
        for index, (earlier, a) in enumerate(samples)
        for later, b in samples[index + 1 :]
    ]
    return statistics.median(slopes) if slopes else 0.0


def _report(options: argparse.Namespace, figures: Figures, took_s: float) -> None:
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(figures.outcomes.items()))
    print(f"\n{options.robot}: {outcomes or 'no search ended'}; {took_s / 60:.1f} minutes, seed {options.seed}")
    print(f"\n  {'':<34}{'number':>8}{'median':>9}{'99 %':>9}{'largest':>9}")
    rows = [("whole searches [s]", figures.searches_s, 1.0), ("moves, settled [s]", figures.moves_s, 1.0)]
    rows += [("looks [ms]", figures.looks_s, 1e3)]
    rows += [(f"cancel acknowledged, {when} [ms]", times, 1e3) for when, times in figures.cancels_s.items()]
    rows += [("rest after a canceled search [s]", figures.rests_s, 1.0)]
    for name, values, factor in rows:
        if values:
            middle, late = statistics.median(values), sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]
            numbers = "".join(f"{factor * value:>9.2f}" for value in (middle, late, max(values)))
            print(f"  {name:<34}{len(values):>8}{numbers}")
    print("\n  from the first sample (after 10) over the one after 50 to the last")
    print(f"  {'':<18}{'own memory [MB]':>24}{'per 100':>10}{'RSS [MB]':>16}{'threads':>10}{'files':>10}")
    for name, samples in figures.usage.items():
        shown = [samples[0], next((s for s in samples if s[0] >= 50), samples[-1]), samples[-1]]
        own = " ".join(f"{usage.own_mb:.1f}" for _, usage in shown)
        growth = _growth_mb([sample for sample in samples if sample[0] >= LEAK_FROM // 2])
        first, last = shown[0][1], shown[-1][1]
        print(
            f"  {name:<18}{own:>24}{growth:>+10.2f}{f'{first.rss_mb:.0f} {last.rss_mb:.0f}':>16}"
            f"{f'{first.threads} {last.threads}':>10}{f'{first.files} {last.files}':>10}"
        )
    print(f"\n{len(figures.failures)} failures" + "".join(f"\n  {failure}" for failure in figures.failures[:50]))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:<70}", end="" if text else "\r", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
