"""How exactly an exported model computes."""

from __future__ import annotations

from enum import Enum

from hvs_ros.policy.contract import PolicyError

BLOCK = 32
"""So many weights of a row share a scale where weights are quantised."""


class Precision(Enum):
    """Of weights and of what is computed with them.

    Sums that run through all layers (the residual stream), norms and the choice of the token are float32 throughout.
    """

    FP32 = "fp32"
    """For the CPU, and to compare with."""
    FP16 = "fp16"
    INT8 = "int8"
    """The decoder's matrices in 8 bits, everything else as with fp16."""
    INT4 = "int4"
    """The decoder's matrices in 4 bits, everything else as with fp16."""

    @property
    def half(self) -> bool:
        """Activations, the KV cache and the vision tower are float16."""
        return self is not Precision.FP32

    @property
    def bits(self) -> int:
        """Of a weight of the decoder."""
        return {Precision.FP32: 32, Precision.FP16: 16, Precision.INT8: 8, Precision.INT4: 4}[self]

    @property
    def quantised(self) -> bool:
        """The decoder's matrices are whole numbers with scales."""
        return self.bits <= 8

    @classmethod
    def named(cls, name: str) -> Precision:
        """Return the precision of that name.

        Raises:
            PolicyError: there is none.
        """
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(precision.value for precision in cls)
            raise PolicyError(f"there is no precision '{name}'; known are {known}") from None
