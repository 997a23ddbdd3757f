"""Answers a second from a model server: the benchmark's engine beside a generator of nothing but load.

The server is the mock, in a process of its own, which takes 50 ms for an answer and does not open pictures. The
generator sends the requests that a search of ten turns makes, prepared beforehand, over as many connections as the
engine has searches under way; it neither draws, nor encodes, nor reads what comes back. What it gets is what the server
can give. Where both share a few cores, the engine's own work (a view drawn and encoded each turn) takes from what the
server could do; one that answers N at a time is limited by its own pace, as real ones are. The engine's time is that
of a whole run: the server is tried out, and the panoramas are decoded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from bench_scripts import said

from hvs_ros.benchmark.dataset import open_dataset, plan_benchmark
from hvs_ros.benchmark.engine import BenchEngine, EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.run import Listener
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.panorama import Camera, mark_cross, open_panorama
from hvs_ros.policy.crews import make_crew
from hvs_ros.policy.dialogue import Dialogue
from hvs_ros.policy.engine import Answer
from hvs_ros.policy.model_settings import ModelSettings, Thought
from hvs_ros.policy.prompt_sets import load_prompts
from hvs_ros.policy.server_request import Dialect, Sampling, chat_body
from hvs_ros.search.episode import SearchSession
from hvs_ros.search.view import Arrival, MoveOutcome, View

DELAY_S = 0.05
IN_FLIGHT = 64
TURNS = 10
SIZES = ((1920, 1080), (640, 360))
ACTION = "rotate(37,0)"
TARGET = 0.9
MODEL = "mock/HVS-3B"


@dataclass(frozen=True)
class Rate:
    """What one side got.

    Attributes:
        answers_s: answers a second.
        own: share of all cores that this process took.
        server: share of all cores that the server took.
    """

    answers_s: float
    own: float
    server: float

    def __str__(self) -> str:
        cores = os.cpu_count() or 1
        own_ms, server_ms = (1e3 * share * cores / self.answers_s for share in (self.own, self.server))
        return (
            f"{self.answers_s:7.1f}/s, CPU {self.own:4.0%} (server {self.server:4.0%}),"
            f" {own_ms:5.1f} ms (server {server_ms:4.1f}) an answer"
        )


def compare_server(scenes: Path, at_once: Sequence[int], searches: int) -> bool:
    """Print both sides' figures for each server and size of views; return whether the target is met everywhere."""
    print(f"\nAnswers a second, {IN_FLIGHT} in flight, {DELAY_S * 1e3:.0f} ms an answer, {searches * TURNS} answers")
    planned = plan_benchmark(open_dataset(scenes), seed=None, max_turns=TURNS)
    episodes = [replace(planned[n % len(planned)], episode_id=f"{n}") for n in range(searches)]
    met = True
    for width, height in SIZES:
        bodies = _prepared(episodes[0], Camera(width, height, 100.0))
        kilobytes = max(map(len, bodies)) / 1e3
        print(f"  views {width}x{height}, requests of up to {kilobytes:.0f} kB")
        for count in at_once:
            with _server(count) as (url, pid):
                bare = _measured(pid, searches * TURNS, lambda url=url, bodies=bodies: _load(url, bodies, searches))
                ours = _measured(pid, searches * TURNS, lambda url=url, w=width, h=height: _run(url, episodes, w, h))
            ratio = ours.answers_s / bare.answers_s
            reached = ratio >= TARGET
            met = met and reached
            print(f"    {f'{count} at a time' if count else 'all at once':13} load generator {bare}")
            verdict = "met" if reached else "MISSED"
            print(f"    {'':13} engine         {ours}, ratio {ratio:.2f} ({TARGET:g}: {verdict})", flush=True)
    return met


def _prepared(episode: Episode, camera: Camera) -> list[bytes]:
    """Return the requests of a search, as the engine's crew sends them."""
    settings = ModelSettings()
    dialogue = Dialogue(settings, load_prompts(settings.prompts, Thought(settings.thought)), dict)
    dialogue.start(episode.task)
    session = SearchSession(episode.task, keep_pictures=False)
    sampler = Viewing(camera).sampler(open_panorama(episode.scene.panorama_path))
    direction, bodies = episode.start, list[bytes]()
    while not session.done:
        image = sampler.render(direction.yaw_deg, direction.pitch_deg)
        mark_cross(image)
        messages = dialogue.ask(session.observe(View(image, direction, 0, camera.hfov_deg)))
        bodies.append(chat_body(messages, model=MODEL, sampling=Sampling(), dialect=Dialect.VLLM))
        goal = session.decide(dialogue.answered(Answer(said(ACTION))))
        assert goal is not None
        direction = session.conclude(Arrival(MoveOutcome.REACHED, goal)).direction
    return bodies


@contextlib.contextmanager
def _server(at_once: int) -> Iterator[tuple[str, int]]:
    """Run the mock server and return its address and process."""
    options = {"--port": 0, "--delay": DELAY_S, "--at-once": at_once, "--script": ACTION}
    command = [sys.executable, "-m", "hvs_ros.mock.model_server", "--unopened", "--quiet"]
    command += [str(word) for pair in options.items() for word in pair]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["base_url"], process.pid
        finally:
            process.terminate()


def _measured(server: int, answers: int, work: Callable[[], None]) -> Rate:
    cores = os.cpu_count() or 1
    theirs, own, began = _cpu_s(server), time.process_time(), time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    shares = (time.process_time() - own, _cpu_s(server) - theirs)
    return Rate(answers / seconds, *(share / seconds / cores for share in shares))


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _load(url: str, bodies: Sequence[bytes], searches: int) -> None:
    address = urlsplit(url)
    head = (
        f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
        "Content-Type: application/json\r\nAuthorization: Bearer none\r\nContent-Length: "
    )
    requests = [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies]
    asyncio.run(_sent(address.hostname or "", address.port or 80, requests, searches))


async def _sent(host: str, port: int, requests: Sequence[bytes], searches: int) -> None:
    left = iter(range(searches))

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        for _ in left:
            for request in requests:
                writer.write(request)
                await writer.drain()
                head = await reader.readuntil(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(f"the server says {head.splitlines()[0]!r}")
                length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
        writer.close()

    await asyncio.gather(*(connection() for _ in range(IN_FLIGHT)))


def _run(url: str, episodes: Sequence[Episode], width: int, height: int) -> None:
    crew = make_crew("server", {"base_url": url, "view_size": f"{width}x{height}"}, IN_FLIGHT)
    viewing = Viewing(Camera(width, height, 100.0))
    report = BenchEngine(episodes, crew, viewing, None, Listener(), EngineSettings(IN_FLIGHT)).run()
    if not report.complete or any(len(result.record.turns) != TURNS for result in report.results):
        raise SystemExit(f"the run went wrong: {report.gave_up or report.results[0].record}")
