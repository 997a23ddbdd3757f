"""What an export needs of disk and memory, before it starts."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.onnx_model.precision import BLOCK, Precision
from hvs_ros.policy.qwen.checkpoint import Checkpoint

GIGA = 1e9
PROGRAM = int(1.2 * GIGA)
"""Memory of torch, of the exporter and of the graphs without weights."""
COPIES = 3
"""A weight is held so often at once: read, converted, transposed, and as the bytes that are written."""
MARGIN = 1.05
MEMORY_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")


@dataclass(frozen=True)
class Needs:
    """Of an export.

    Attributes:
        vision: bytes of the vision tower on the disk.
        decoder: bytes of the decoder on the disk.
        embeddings: bytes of the embedding table on the disk.
        memory: bytes, at most at one time.
    """

    vision: int
    decoder: int
    embeddings: int
    memory: int

    @property
    def disk(self) -> int:
        """Bytes of everything."""
        return int(MARGIN * (self.vision + self.decoder + self.embeddings)) + 20_000_000

    def __str__(self) -> str:
        return (
            f"{self.disk / GIGA:.2f} GB on the disk (vision tower {self.vision / GIGA:.2f}, decoder "
            f"{self.decoder / GIGA:.2f}, embeddings {self.embeddings / GIGA:.2f}) and {self.memory / GIGA:.1f} GB of "
            "memory"
        )


def export_needs(checkpoint: Checkpoint, precision: Precision) -> Needs:
    """Estimate what an export needs."""
    v, d = checkpoint.vision, checkpoint.decoder
    size = 2 if precision.half else 4
    merged = v.hidden * v.merge**2
    attention, inner = 4 * v.hidden**2, 3 * v.hidden * v.inner
    patches = 3 * v.temporal_patch * v.patch**2 * v.hidden
    vision = size * (v.depth * (attention + inner) + patches + merged * (merged + v.out)) + (4 - size) * inner
    kv = d.kv_heads * d.head_width
    layer = 2 * d.hidden**2 + 2 * d.hidden * kv + 3 * d.hidden * d.inner
    matrices = d.layers * layer + d.hidden * d.vocabulary
    bits = precision.bits + (8 * size / BLOCK if precision.quantised else 0)
    largest = max(d.hidden * d.vocabulary, d.hidden * d.inner, merged**2)
    return Needs(
        vision=vision,
        decoder=int(matrices * bits / 8),
        embeddings=size * d.hidden * d.vocabulary,
        memory=PROGRAM + COPIES * size * largest,
    )


def check_room(needs: Needs, folder: Path) -> None:
    """Check that there is as much.

    Args:
        needs: of the export.
        folder: an existing folder on the disk that it is written to.

    Raises:
        PolicyError: there is not; the message has both figures.
    """
    free = shutil.disk_usage(folder).free
    if free < needs.disk:
        raise PolicyError(
            f"the export needs {needs.disk / GIGA:.2f} GB on the disk of {folder}, {free / GIGA:.2f} GB are free: "
            "make room, or choose a smaller precision or another --out"
        )
    memory = available_memory()
    if memory is not None and memory < needs.memory:
        raise PolicyError(
            f"the export needs {needs.memory / GIGA:.1f} GB of memory, {memory / GIGA:.1f} GB are available: end other "
            "programs, or export on a larger machine and copy the folder"
        )


def available_memory() -> int | None:
    """Return the bytes of memory that may still be used; None where the system does not tell."""
    found: list[int] = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError):
        if "SC_AVPHYS_PAGES" in os.sysconf_names:
            found.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:  # a container's own limit
        limit, used = (Path(name).read_text(encoding="ascii").strip() for name in MEMORY_FILES)
        found.append(int(limit) - int(used))
    except (OSError, ValueError):
        pass
    return min(found, default=None)
