from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.policy.qwen.generation import Chooser, GenerationDefaults

VOCABULARY = 50


def logits(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, VOCABULARY).astype(np.float32)


@given(st.lists(st.integers(0, VOCABULARY - 1), max_size=30), st.floats(0.8, 1.5), st.integers(0, 10**6))
def test_the_penalty_is_that_of_transformers(prompt: list[int], penalty: float, seed: int) -> None:
    torch = pytest.importorskip("torch")
    process = pytest.importorskip("transformers.generation.logits_process")
    theirs = process.RepetitionPenaltyLogitsProcessor(penalty=penalty)
    chooser = Chooser(GenerationDefaults(frozenset(), penalty), prompt, 0.0)
    ids = list(prompt)
    for step in range(8):
        scores = logits(seed + step)
        before = scores.copy()
        expected = torch.from_numpy(scores)[None]
        if ids:
            expected = theirs(torch.tensor([ids]), expected)
        token = chooser.choose(scores)
        assert token == int(expected.argmax()) and np.array_equal(scores, before)
        ids.append(token)


def test_a_token_is_penalised_once_it_is_said() -> None:
    scores = np.array([1.0, 1.01, -1.0], np.float32)
    chooser = Chooser(GenerationDefaults(frozenset(), 1.05), [], 0.0)
    assert [chooser.choose(scores) for _ in range(3)] == [1, 0, 1]


def test_the_end() -> None:
    chooser = Chooser(GenerationDefaults(frozenset({3, 5})), [1], 0.0)
    assert [chooser.ends(token) for token in range(6)] == [False, False, False, True, False, True]


def test_a_temperature_samples_among_the_likely_ones() -> None:
    scores = np.log(np.array([0.5, 0.25, 0.15, 0.1], np.float32))
    free = Chooser(GenerationDefaults(frozenset()), [], 1.0, seed=1)
    counts = np.bincount([free.choose(scores) for _ in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(counts, [0.5, 0.25, 0.15, 0.1], atol=0.04)
    top_p = Chooser(GenerationDefaults(frozenset(), top_p=0.7), [], 1.0, seed=1)
    assert {top_p.choose(scores) for _ in range(300)} == {0, 1}
    top_k = Chooser(GenerationDefaults(frozenset(), top_k=1), [], 1.0, seed=1)
    assert {top_k.choose(scores) for _ in range(50)} == {0}
    cold = Chooser(GenerationDefaults(frozenset()), [], 0.01, seed=1)
    assert {cold.choose(scores) for _ in range(50)} == {0}
    again = [Chooser(GenerationDefaults(frozenset()), [], 1.0, seed=7).choose(scores) for _ in range(5)]
    assert len(set(again)) == 1, "the same seed chooses the same"
