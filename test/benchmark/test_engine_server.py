"""The engine with a model server: searches as one after the other, also where the server goes and comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_crew import Log, make_engine, make_episodes

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.benchmark.in_process import InProcessBackend, SceneHead
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.benchmark.run import BenchmarkRun, Patience
from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.panorama import Camera
from hvs_ros.panorama.surroundings import Workshop
from hvs_ros.policy.crews import make_crew
from hvs_ros.policy.registry import create_policy
from hvs_ros.search.episode import Outcome

CAMERA = Camera(160, 90, 100.0)
SCRIPT = "rotate(30,0); raw:I wonder.; rotate(-120,5); submit(95,0)"
LIMIT_S = 30.0


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer(script=SCRIPT, delay_s=0.01) as server:
        yield server


def settings(server: MockModelServer) -> dict[str, Any]:
    return {"base_url": server.base_url, "retries": 1, "retry_wait": 0.01, "view_size": "160x90"}


def said(record: SearchRecord) -> Any:
    return record.outcome, record.submitted, [(t.direction, t.action, t.status, t.raw, t.after) for t in record.turns]


def test_decisions_are_those_of_one_search_after_the_other(server: MockModelServer, tmp_path: Path) -> None:
    episodes = make_episodes(tmp_path, scenes=2, each=4)
    head = SceneHead(Workshop("", CAMERA, "exact", 1, 100))
    with InProcessBackend(lambda: create_policy("server", settings(server)), head) as backend:
        one_by_one = BenchmarkRun(episodes, backend).run()
    crew = make_crew("server", settings(server), 8)
    at_once = make_engine(episodes, crew, in_flight=8, viewing=Viewing(CAMERA)).run()
    assert at_once.complete and len(at_once.results) == 8
    assert [said(result.record) for result in at_once.results] == [said(result.record) for result in one_by_one.results]
    assert len(at_once.results[0].record.turns) == 4


def test_a_server_that_goes_and_comes_back_costs_no_turn_and_no_episode(
    server: MockModelServer, tmp_path: Path
) -> None:
    episodes = make_episodes(tmp_path, scenes=3, each=8)
    waits = threading.Event()

    class Waits(Log):
        def on_retry(self, *told: Any) -> None:
            super().on_retry(*told)
            waits.set()

    def go_and_come_back() -> None:
        end = time.monotonic() + LIMIT_S
        while len(server.asked) < 30 and time.monotonic() < end:
            time.sleep(0.005)
        server.stop()
        waits.wait(LIMIT_S)
        time.sleep(0.3)
        server.start()

    crew, log = make_crew("server", settings(server), 8), Waits()
    patience = Patience(attempts=3, pause_s=0.05, outage_s=LIMIT_S)
    keeper = threading.Thread(target=go_and_come_back)
    keeper.start()
    report = make_engine(episodes, crew, log, in_flight=8, viewing=Viewing(CAMERA), patience=patience).run()
    keeper.join()
    assert report.complete and not report.gave_up and len(report.results) == 24
    assert {outcome for _, outcome in log.retried} == {Outcome.POLICY_UNAVAILABLE}
    assert all(len(result.record.turns) == 4 and result.scored for result in report.results)
    assert max(result.attempts for result in report.results) > 1
