"""The workers of a run, as Ray actors: hired, heard, and replaced when they are lost.

All calls come from one thread at a time and none waits longer than it is told to. Each worker has one question pending,
what has happened since; whoever dies is known by the failure of it. A worker must have the same software as the driver,
the same pictures under the same paths and the same model: one that has not is let go with a line that names its
machine, and the others go on.
"""

from __future__ import annotations

import itertools
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.ray_session import RayError, ray_session
from hvs_ros.benchmark.ray_worker import CODE, Job, Worker, software
from hvs_ros.benchmark.settings import MACHINE_FACTS
from hvs_ros.benchmark.tidings import Lost, Ready, Tiding, Unfit
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.registry import policy_settings

QUESTION_S = 10.0
"""A worker answers after so long even if nothing has happened."""
CLOSE_S = 5.0
"""For workers to close their policies."""
SAY_AFTER_S = 10.0
"""What is waited for is named then."""
PLACE_LIMIT_S = 180.0
"""For a cluster to find room for the first worker."""


@dataclass(frozen=True)
class RaySettings:
    """Where workers run, and how many; none of it changes a result.

    Attributes:
        address: auto, local, host:port or ray://host:port.
        workers: how many; None: one a machine, or one for each share of the GPUs.
        cpus: that each reserves.
        gpus: that each gets.
        verbose: what workers print is shown.
    """

    address: str = "auto"
    workers: int | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    verbose: bool = False


@dataclass
class _Hand:
    """A worker as its employer knows it."""

    actor: Any
    question: Any
    machine: str = ""
    heard: int = 0
    ready: bool = False
    hired_s: float = field(default_factory=time.monotonic)


class RayWorkers:
    """Workers on a cluster; a context manager, entered when the first of them is ready.

    Args:
        job: what they are for.
        settings: where, and how many.
        say: is told what takes long, or is wrong on one of several machines.

    Attributes:
        count: workers that were hired.
        enough: episodes that keep one busy.

    Raises:
        RayError: there is no cluster, or no worker that could do it.
        PolicyError: the policy cannot be made anywhere.
    """

    def __init__(self, job: Job, settings: RaySettings, say: Callable[[str], None]) -> None:
        self.count = 0
        self.enough = 0
        self._job, self._settings, self._say = job, settings, say
        self._ray: Any = None
        self._hands: dict[str, _Hand] = {}
        self._numbers = itertools.count(1)
        self._facts: Mapping[str, str] | None = None
        self._software = software(job.policy)
        self._stack = ExitStack()

    def __enter__(self) -> RayWorkers:
        s = self._settings
        try:
            wanted = s.cpus * (s.workers or 1)
            self._ray = self._stack.enter_context(ray_session(s.address, cpus=wanted, verbose=s.verbose))
            self._stack.callback(self._dismiss)
            self._hire_all()
            self._wait_for_first()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def ready(self) -> list[str]:
        """Workers that take episodes."""
        return [name for name, hand in self._hands.items() if hand.ready]

    @property
    def hired(self) -> int:
        """Workers that are there, or on their way."""
        return len(self._hands)

    def describe(self) -> Mapping[str, str]:
        """Return what the policy tells of itself; the same on every machine."""
        return dict(self._facts or {})

    def machine(self, worker: str) -> str:
        """Return the name of the machine of a worker that is there."""
        hand = self._hands.get(worker)
        return hand.machine if hand is not None and hand.machine else "a machine"

    def hired_s(self, worker: str) -> float:
        """Return when a worker that is there was hired, on the steady clock."""
        return self._hands[worker].hired_s

    def give(self, worker: str, episodes: Sequence[Episode]) -> None:
        """Let a worker search these too."""
        self._hands[worker].actor.give.remote(list(episodes))

    def tidings(self, limit_s: float) -> list[tuple[str, Tiding]]:
        """Wait until something has happened, and return it, a worker's in order; nothing at the end of the limit.

        A worker of which Unfit or Lost is told is still known until ``dismiss``.
        """
        pending = {hand.question: name for name, hand in self._hands.items() if hand.question is not None}
        if not pending:
            time.sleep(limit_s)
            return []
        first, _ = self._ray.wait(list(pending), num_returns=1, timeout=limit_s)
        if not first:
            return []
        answered, _ = self._ray.wait(list(pending), num_returns=len(pending), timeout=0)
        return [(pending[question], tiding) for question in answered for tiding in self._heard(pending[question])]

    def dismiss(self, worker: str, *, replace: bool) -> None:
        """Let a worker go; another one takes its place when there is room for it."""
        hand = self._hands.pop(worker)
        self._kill(hand)
        if replace:
            self._hire()

    def stop(self) -> None:
        """End the searches of all workers."""
        for hand in self._hands.values():
            if hand.ready:
                hand.actor.stop.remote()

    def _hire_all(self) -> None:
        s, resources = self._settings, self._ray.cluster_resources()
        # A head that only manages has no cores to offer.
        machines = sum(node["Alive"] and node["Resources"].get("CPU", 0) >= s.cpus for node in self._ray.nodes())
        by_gpus = int(resources.get("GPU", 0) / s.gpus) if s.gpus else machines
        self.count = s.workers or max(1, by_gpus)
        if resources.get("GPU") and not s.gpus and "require_gpu" in policy_settings(self._job.policy):
            self._say("workers see no GPU unless they are given one each: --worker-gpus 1")
        if not self._job.engine.threads:
            threads = s.cpus if s.cpus > 1 else resources.get("CPU", 1) / self.count
            self._job = replace(self._job, engine=replace(self._job.engine, threads=max(1, int(threads))))
        self._job_in_store = self._ray.put(self._job)
        for _ in range(self.count):
            self._hire()

    def _hire(self) -> None:
        s = self._settings
        remote = self._ray.remote(num_cpus=s.cpus, num_gpus=s.gpus, max_restarts=0, max_concurrency=8)(Worker)
        actor = remote.options(scheduling_strategy="SPREAD").remote()
        self._hands[f"worker {next(self._numbers)}"] = _Hand(actor, actor.about.remote(self._job.policy))

    def _heard(self, name: str) -> list[Tiding]:
        hand = self._hands[name]
        question, hand.question = hand.question, None
        try:
            answer = self._ray.get(question)
        except self._ray.exceptions.RayError as error:
            return [Lost(_reason(error))]
        if not hand.machine:
            hand.machine, has = answer
            if hand.machine == socket.gethostname():
                has = {**has, CODE: self._software[CODE]}  # which a developer may be changing at this moment
            if unlike := _unlike(self._software, has):
                return [Unfit(f"other software than where the run was started: {unlike}")]
            hand.actor.start.remote(self._job_in_store)
            answer = []
        hand.heard += len(answer)
        hand.question = hand.actor.tidings.remote(hand.heard, QUESTION_S)
        return [self._checked(hand, tiding) for tiding in answer]

    def _checked(self, hand: _Hand, tiding: Tiding) -> Tiding:
        if not isinstance(tiding, Ready):
            return tiding
        if self._facts is None:
            self._facts = tiding.facts
        if unlike := _unlike(self._facts, tiding.facts):
            return Unfit(f"another policy than on the first machine: {unlike}")
        hand.ready = True
        # So that a searcher that has ended one episode finds the next one there.
        self.enough = tiding.room + max(2, tiding.room // 2)
        return tiding

    def _wait_for_first(self) -> None:
        began, told = time.monotonic(), False
        reasons: list[str] = []
        while not self.ready:
            for name, tiding in self.tidings(0.2):
                if isinstance(tiding, Unfit | Lost) and name in self._hands:
                    if isinstance(tiding, Unfit) and tiding.everywhere:
                        raise PolicyError(tiding.reason)
                    reasons.append(f"{self.machine(name)}: {tiding.reason}")
                    self.dismiss(name, replace=False)
            if not self._hands:
                raise RayError(f"no machine of the cluster can search; {'; '.join(dict.fromkeys(reasons))}")
            waited_s = time.monotonic() - began
            if any(hand.machine for hand in self._hands.values()):
                continue  # its policy is being made, for which a policy has limits of its own
            if waited_s > SAY_AFTER_S and not told:
                told = True
                self._say(f"waiting for room on the cluster for a worker ({self._room()})")
            if waited_s > PLACE_LIMIT_S:
                raise RayError(f"the cluster had no room for a worker ({self._room()}) within {PLACE_LIMIT_S:g} s")
        for reason in dict.fromkeys(reasons):
            self._say(f"goes on without {reason}")

    def _room(self) -> str:
        s = self._settings
        return f"{s.cpus:g} CPU" + (f", {s.gpus:g} GPU" if s.gpus else "")

    def _dismiss(self) -> None:
        """Let all workers close their policies, and end them."""
        closing = [hand.actor.finish.remote(CLOSE_S) for hand in self._hands.values() if hand.ready]
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_S)
        for hand in self._hands.values():
            self._kill(hand)
        self._hands.clear()

    def _kill(self, hand: _Hand) -> None:
        try:
            self._ray.kill(hand.actor)
        except self._ray.exceptions.RayError:
            return  # it has gone already


def _unlike(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Return what differs between two machines, but for what may; empty: nothing."""
    names = [name for name in {**here, **there} if name not in MACHINE_FACTS and here.get(name) != there.get(name)]
    return "; ".join(f"{name} is {there.get(name, 'missing')}, not {here.get(name, 'there')}" for name in names)


def _reason(error: BaseException) -> str:
    """Return in one line why an actor's answer does not come."""
    text = str(error)
    missing = re.search(r"ModuleNotFoundError: (No module named '[\w.]+')", text)
    if missing:
        where = re.search(r"ip=([\d.]+)", text)
        return f"{where[1] if where else 'there'}: {missing[1]}; hvs_ros must be installed on every machine"
    if "node has died" in text or "node was terminated" in text:
        return "the machine does not answer any more"
    if "low on memory" in text or "OutOfMemory" in type(error).__name__:
        return "the machine ran low on memory, and Ray ended the worker; fewer --in-flight or less --memory need less"
    return "the worker's process was ended or has crashed; Ray's logs on that machine may tell why"
