"""Settings of the policy that asks a model server, beside those that all models have."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from hvs_ros.policy.contract import PolicyError

VIEW_SIZE = "1920x1080"
"""The benchmark's view."""
_SIZE = re.compile(r"(\d{2,5})x(\d{2,5})")


@dataclass(frozen=True)
class ServerSettings:
    """They come from a command line or from parameters, so everything is checked.

    Attributes:
        base_url: of one server or of several, separated by spaces or commas.
        model: as the server calls it; empty: the only one that it has.
        timeout: limit for one answer [s].
        connect_timeout: limit for a connection [s].
        retries: a request that failed on its way is repeated so many times.
        retry_wait: before the first repetition [s]; each further one waits twice as long.
        verify_tls: whether a server's certificate is checked.
        ca_file: certificates to check it against; empty: the machine's own.
        probe: whether a server is tried out when the policy is made.
        view_size: the largest view that a server must have room for, "1920x1080".

    Raises:
        PolicyError: a value that cannot be; the message names it.
    """

    base_url: str = ""
    model: str = ""
    timeout: float = 30.0
    connect_timeout: float = 5.0
    retries: int = 2
    retry_wait: float = 0.5
    verify_tls: bool = True
    ca_file: str = ""
    probe: bool = True
    view_size: str = VIEW_SIZE

    def __post_init__(self) -> None:
        for name in ("base_url", "model", "ca_file", "view_size"):
            if not isinstance(getattr(self, name), str):
                raise PolicyError(f"{name} is {getattr(self, name)!r}; a text is expected")
        for name in ("verify_tls", "probe"):
            if not isinstance(getattr(self, name), bool):
                raise PolicyError(f"{name} is {getattr(self, name)!r}; true or false is expected")
        _seconds("timeout", self.timeout, 0.01, 3600.0)
        _seconds("connect_timeout", self.connect_timeout, 0.01, 600.0)
        _seconds("retry_wait", self.retry_wait, 0.0, 60.0)
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or not 0 <= self.retries <= 20:
            raise PolicyError(f"retries is {self.retries!r}; give a whole number from 0 to 20")
        if _SIZE.fullmatch(self.view_size) is None:
            raise PolicyError(f"view_size is {self.view_size!r}; give width and height in pixels, e.g. {VIEW_SIZE}")
        if self.ca_file and not Path(self.ca_file).expanduser().is_file():
            raise PolicyError(f"ca_file is {self.ca_file!r}, which is no file")

    @property
    def view(self) -> tuple[int, int]:
        """The largest view as (width, height) in pixels."""
        width, _, height = self.view_size.partition("x")
        return int(width), int(height)


def _seconds(name: str, value: object, low: float, high: float) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= value <= high:  # type: ignore[operator]  # it is a number here
        raise PolicyError(f"{name} is {value!r}; give {low:g} to {high:g} seconds")
