"""One search on a head that is ready, shown turn by turn."""

from __future__ import annotations

import time

from hvs_ros.benchmark.progress import record_line, result_line, turn_line
from hvs_ros.benchmark.result import judge
from hvs_ros.cli.error import VerbError
from hvs_ros.cli.real_tasks import RealTask
from hvs_ros.cli.robot_graph import RobotGraph, Say
from hvs_ros.nodes.benchmark_recordings import Recordings
from hvs_ros.nodes.search_client import SearchClient, SearchClientError
from hvs_ros.nodes.watched_head import watched_head
from hvs_ros.search.episode import SearchFailure
from hvs_ros.search.scoring import ScoringMode

BAG_S = 10.0
"""For the recorder to finish a bag."""


def run_search(graph: RobotGraph, task: RealTask, *, record: bool, say: Say) -> int:
    """Search, showing each turn, and return the exit code.

    Args:
        graph: with the head.
        task: what is searched for; a known target is compared with the answer.
        record: a recorder is part of the graph; its bag is waited for.
        say: is told what is not a turn.

    Raises:
        VerbError: there was no search, because nobody answers.
    """
    recordings = Recordings(graph.node) if record else None
    search_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{task.episode.episode_id if task.episode else 'real'}"
    if task.note:
        say(task.note)
    try:
        if task.episode is not None:
            _go_to_start(graph, task, say)
        with SearchClient(graph.node) as client:
            found = client.search(
                task.task.instruction,
                kind=task.task.kind,
                max_turns=task.task.max_turns,
                search_id=search_id,
                on_turn=lambda turn: print(turn_line(turn), flush=True),
            )
    except (SearchFailure, SearchClientError) as error:
        raise VerbError(graph.trouble() or str(error)) from error
    if task.episode is None:
        print(record_line(found), flush=True)
    else:
        print(result_line(judge(task.episode, found), ScoringMode.PAPER), flush=True)
    if recordings is not None:
        say(_bag_text(recordings, search_id))
    return 0 if found.outcome.completed else 1


def _go_to_start(graph: RobotGraph, task: RealTask, say: Say) -> None:
    assert task.episode is not None
    with watched_head(graph.node) as head:
        start = head.turn_to(task.episode.start)
    if not start.outcome.arrived:
        raise VerbError(f"the head did not get to the start: {start.outcome.value}: {start.message}")
    say(f"from {start.direction}, {task.episode.episode_id}: {task.task.instruction}")


def _bag_text(recordings: Recordings, search_id: str) -> str:
    recording = recordings.of(search_id, BAG_S)
    if recording is not None and recording.path is not None:
        recording = recordings.end_of(recording.path, BAG_S) or recording
    if recording is None:
        return "no bag: the recorder does not answer"
    note = f" ({recording.message})" if recording.message else ""
    return f"bag {recording.path or 'none'}: {recording.state}{note}"
