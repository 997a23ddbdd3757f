"""What a worker of a run on several machines does: searches with an engine of its own, and tells of everything.

Nothing here imports ray: a worker is an ordinary object, whose methods are called from several threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hvs_ros.benchmark.engine import EngineSettings
    from hvs_ros.benchmark.run import Patience
    from hvs_ros.benchmark.viewing import Viewing


@dataclass(frozen=True)
class Job:
    """What every worker is told before its first episode.

    Attributes:
        policy: name of the policy.
        policy_settings: of it. They travel to the workers; keys do not belong there (HVS_API_KEY is each machine's).
        crew_size: searches at the same time that a worker's crew is made for; None: the crew's own number.
        viewing: how views are made.
        engine: of each worker; ``in_flight`` and ``memory_mb`` are per worker.
        patience: with the machinery.
        pictures: panoramas that will be looked at, absolute, with their sizes in bytes here: the same on every machine.
    """

    policy: str
    policy_settings: Mapping[str, Any]
    crew_size: int | None
    viewing: Viewing
    engine: EngineSettings
    patience: Patience
    pictures: tuple[tuple[Path, int], ...] = ()
