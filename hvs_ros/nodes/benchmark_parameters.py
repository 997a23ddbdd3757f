"""What the benchmark node can be told."""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.nodes.parameters import parameter


@dataclass(frozen=True)
class BenchmarkParameters:
    """Which episodes are run, how, and where the results go. An empty text stands for 'not given'."""

    scenes: str = parameter("", "Folder of scenes with their annotations; empty: the sample scenes")
    select: str = parameter("", "Only scenes or episodes whose name matches one of these patterns, separated by spaces")
    starts: int = parameter(0, "Only so many starts of each task; 0: all", low=0, high=1000)
    episodes: int = parameter(0, "Only so many episodes; 0: all", low=0, high=1_000_000)
    max_turns: int = parameter(0, "Turns after which a search ends; 0: as the task says", low=0, high=1000)
    instruction: str = parameter("", "Search for this in every scene, instead of its own tasks")
    target: str = parameter("object", "What the instruction asks for", choices=("object", "path"))
    scoring: str = parameter("paper", "The rule that counts", choices=("paper", "reference"))

    results: str = parameter("", "File that each result is appended to; empty: results are only printed")
    resume: bool = parameter(True, "Continue the results file if it is there, with the episodes it does not hold")
    record: bool = parameter(False, "Wait for an episode_recorder, and note its bags in the results")

    attempts: int = parameter(3, "How often an episode is tried when the machinery fails", low=1, high=100)
    failures_in_a_row: int = parameter(3, "After so many failed episodes in a row the run ends", low=1, high=10_000)
    ready_timeout: float = parameter(60.0, "Limit for head, searcher and recorder to appear [s]", low=0.1, high=3600.0)
    load_timeout: float = parameter(60.0, "Limit for a head to enter a scene [s]", low=0.1, high=3600.0)
