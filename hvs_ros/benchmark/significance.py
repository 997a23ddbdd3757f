"""Do two runs over the same episodes differ by more than chance? Exact tests, without scipy.

McNemar's test asks of the episodes in which the two differ whether they would fall so unevenly by the toss of a coin.
It takes episodes for independent. The permutation test does not: it swaps the two runs scene by scene, and asks how
often that gives a difference as great. Where the two tests disagree, the second is to be believed.
"""

from __future__ import annotations

import math

import numpy as np

from hvs_ros.benchmark.intervals import Floats

EXACT_SCENES = 16
"""Up to so many scenes all their swaps are gone through; with more, ``SWAPS`` drawn ones."""
SWAPS = 9999
_CELLS = 1 << 22
_EQUAL = 1e-9


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Return the two-sided p of McNemar's exact test; 1 where no episode differs.

    Args:
        only_a: episodes in which only the first run succeeded.
        only_b: in which only the second did.
    """
    differ = only_a + only_b
    # Whole numbers: thousands of episodes lose no digit.
    tail = sum(math.comb(differ, k) for k in range(min(only_a, only_b) + 1))
    p: float = 2 * tail / 2**differ
    return min(1.0, p)


def permutation_p(differences: Floats, *, seed: int = 0) -> float:
    """Return the two-sided p of the sum of the scenes' differences under swaps of the two runs by scene.

    Args:
        differences: (scenes,) successes of one run minus those of the other in each scene.
        seed: of the drawn swaps. All swaps are gone through where there are few scenes that differ, and the p is
            exact; a drawn one is at least 1 / (SWAPS + 1).
    """
    differing = differences[differences != 0]
    scenes = differing.size
    if not scenes:
        return 1.0
    found = abs(differing.sum()) - _EQUAL
    if scenes <= EXACT_SCENES:
        every = 1 - 2 * ((np.arange(2**scenes)[:, None] >> np.arange(scenes)) & 1)
        return float(np.mean(np.abs(every @ differing) >= found))
    generator = np.random.default_rng(seed)
    as_great, step = 0, max(1, _CELLS // scenes)
    for begin in range(0, SWAPS, step):
        rows = min(step, SWAPS - begin)
        signs = 1.0 - 2.0 * generator.integers(0, 2, (rows, scenes))
        as_great += int((np.abs(signs @ differing) >= found).sum())
    return (1 + as_great) / (1 + SWAPS)
