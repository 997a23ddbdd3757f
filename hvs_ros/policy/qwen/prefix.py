"""How much of what was computed for an earlier prompt is good for the next one."""

from __future__ import annotations

import numpy as np

from hvs_ros.policy.qwen.chat import Prompt


def shared_prefix(known: Prompt, prompt: Prompt) -> int:
    """Return how many tokens two prompts share from their beginning.

    A picture counts as a whole: all of its tokens have the same id, so that what it shows is compared.
    """
    length = min(len(known), len(prompt))
    differing = np.flatnonzero(known.ids[:length] != prompt.ids[:length])
    if len(differing):
        length = int(differing[0])
    for ours, theirs in zip(known.pictures, prompt.pictures, strict=False):
        if ours.start >= length and theirs.start >= length:
            break
        same = (ours.start, ours.size, ours.picture.key) == (theirs.start, theirs.size, theirs.picture.key)
        if not same or ours.end > length:
            return min(length, ours.start, theirs.start)
    return length
