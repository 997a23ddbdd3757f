"""Many searches ask model servers at once: what keeps a server busy that answers a batch as fast as one.

Nothing of a request waits in a thread: it is awaited on the event loop of whoever runs the searches. A request costs a
millisecond there, whatever the size of its pictures, so one process keeps hundreds in flight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.dialogue import Dialogue, dialogue_facts
from hvs_ros.policy.engine import Answer
from hvs_ros.policy.model_searcher import ModelSearcher
from hvs_ros.policy.model_server import require_openai
from hvs_ros.policy.model_servers import ModelServers, Session
from hvs_ros.policy.model_settings import ModelSettings, Thought
from hvs_ros.policy.prompt_sets import load_prompts
from hvs_ros.policy.server_address import addresses
from hvs_ros.policy.server_needs import Needs
from hvs_ros.policy.server_request import Sampling
from hvs_ros.policy.server_settings import ServerSettings

SIZE = 64
"""Searches at the same time, unless it is said: about what servers answer in one batch."""
ANSWER_S = 300.0
"""For an answer, unless it is said: where a server answers fewer at once, the others wait in its queue meanwhile."""


class ServerCrew:
    """Searchers that ask the same servers (see ``hvs_ros.policy.crew.Crew``).

    Args:
        own: where the servers are, and how often and how long they are asked.
        settings: what all models have in common.
        size: how many searchers there may be.

    Raises:
        PolicyError: a setting that cannot be.
        PolicyUnavailableError: a package is missing.
    """

    def __init__(self, own: ServerSettings, settings: ModelSettings, size: int = SIZE) -> None:
        require_openai()
        addresses(own.base_url)
        if size < 1:
            raise PolicyError(f"{size} searches at the same time cannot be; give 1 or more")
        self.size = size
        self._own, self._settings = own, settings
        self._prompts = load_prompts(settings.prompts, Thought(settings.thought))
        self._servers: ModelServers | None = None
        self._out = 0

    async def open(self) -> None:
        """Try the servers out.

        Raises:
            PolicyError: a setting that cannot be.
            PolicyUnavailableError: no server can be reached, or one lacks what a search needs.
        """
        p = self._settings
        sampling = Sampling(p.max_tokens, p.temperature, p.stops)
        needs = Needs(p.views, self._own.view, p.max_tokens)
        servers = ModelServers(self._own, sampling, needs, image_format=p.image_format)
        try:
            await servers.check()
        except BaseException:
            await servers.close()
            raise
        self._servers = servers

    def searcher(self) -> ModelSearcher:
        """Return a searcher that nobody else has.

        Raises:
            RuntimeError: all ``size`` of them are out, or ``open`` was not awaited.
        """
        if self._out == self.size:
            raise RuntimeError(f"all {self.size} searchers of this crew are out")
        servers = self._opened()
        self._out += 1
        return ModelSearcher(Dialogue(self._settings, self._prompts, servers.describe), _ServerLine(servers))

    def describe(self) -> Mapping[str, str]:
        """Return the model, who serves it, and what it is asked with."""
        facts = {**self._opened().describe(), **dialogue_facts(self._settings, self._prompts)}
        return {name: str(value) for name, value in facts.items()}

    async def close(self) -> None:
        """Close all connections."""
        servers, self._servers = self._servers, None
        if servers is not None:
            await servers.close()

    def _opened(self) -> ModelServers:
        if self._servers is None:
            raise RuntimeError("the crew is not open")
        return self._servers


class _ServerLine:
    """A search's way to the servers (see ``hvs_ros.policy.model_searcher.Line``)."""

    def __init__(self, servers: ModelServers) -> None:
        self._servers = servers
        self._session = Session()

    def begin(self) -> None:
        self._session = Session()

    def prepare(self, shown: Shown) -> None:
        shown.data_url  # noqa: B018  # made once, and here rather than on the loop

    async def answer(self, messages: Sequence[Message]) -> Answer:
        return await self._servers.answer(messages, self._session)
