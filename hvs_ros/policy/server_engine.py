"""Asks model servers from a thread that waits: one question at a time, canceled at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Description
from hvs_ros.policy.event_loop import EventLoopThread
from hvs_ros.policy.model_servers import ModelServers, Session
from hvs_ros.policy.server_needs import Needs
from hvs_ros.policy.server_request import Sampling
from hvs_ros.policy.server_settings import ServerSettings


class ServerEngine:
    """Runs a model on servers.

    Args:
        settings: where they are, and how often and how long they are asked.
        sampling: how answers are chosen.
        needs: what the longest request will be.
        image_format: of the pictures.

    Raises:
        PolicyError: a setting cannot be.
        PolicyUnavailableError: the package is missing, no server can be reached, or one lacks what a search needs.
    """

    def __init__(
        self, settings: ServerSettings, sampling: Sampling, needs: Needs, *, image_format: str = "jpeg"
    ) -> None:
        self._servers = ModelServers(settings, sampling, needs, image_format=image_format)
        self._session = Session()
        self._loop = EventLoopThread("model_servers")
        try:
            self._loop.run(self._servers.check())
        except BaseException:
            self.close()
            raise

    def describe(self) -> Description:
        """Return the model and who serves it."""
        return self._servers.describe()

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        """Return what the model says next."""
        if len(messages) <= 2:
            self._session = Session()
        return self._loop.run(self._servers.answer(messages, self._session), canceled)

    def close(self) -> None:
        """End the request under way, if there is one, and close all connections."""
        self._loop.close(self._servers.close())
