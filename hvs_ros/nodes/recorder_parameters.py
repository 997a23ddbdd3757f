"""What the episode recorder can be told."""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.nodes.parameters import parameter


@dataclass(frozen=True)
class RecorderParameters:
    """What a recorder can be told."""

    directory: str = parameter("runs", "Folder that bags are made in; made if it is not there")
    views: str = parameter(
        "compressed", "Which views are recorded; raw ones are large", choices=("compressed", "raw", "both")
    )
    grace: float = parameter(0.3, "From the end of a search to the end of its bag [s]", low=0.0, high=10.0)
    buffer_time: float = parameter(
        2.0, "How far back a bag reaches for what came before the search's first state [s]", low=0.1, high=60.0
    )
    buffer_memory: int = parameter(128, "Limit of that in memory [MiB]", low=1, high=65536)
    queue_memory: int = parameter(
        256, "What may wait to be written; beyond it views are dropped [MiB]", low=1, high=65536
    )
