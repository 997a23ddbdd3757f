"""Names of the graphs' inputs and outputs, which export and runtime share."""

from __future__ import annotations

VISION_INPUTS = ("pixels", "cosines", "sines", "slots", "filled", "back")
FEATURES = "features"

DECODER_INPUTS = ("embeddings", "cosines", "sines", "last", "total")
LOGITS = "logits"


def past_names(layers: int) -> list[str]:
    """Return the decoder's inputs that hold the cache."""
    return [f"past.{layer}.{part}" for layer in range(layers) for part in ("key", "value")]


def present_names(layers: int) -> list[str]:
    """Return the decoder's outputs that hold the cache, in the same order."""
    return [f"present.{layer}.{part}" for layer in range(layers) for part in ("key", "value")]
