"""A model on a server decides: vLLM, SGLang, llama.cpp, OpenAI, Gemini, whatever speaks the OpenAI API.

The key is taken from the environment (HVS_API_KEY; for OpenAI, OPENAI_API_KEY) and shown nowhere. See docs/serving.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvs_ros.policy.crew import Crew
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_server import require_openai
from hvs_ros.policy.model_settings import ModelSettings, settings_apart, takes_model_settings
from hvs_ros.policy.server_address import addresses
from hvs_ros.policy.server_crew import ANSWER_S, SIZE, ServerCrew
from hvs_ros.policy.server_engine import ServerEngine
from hvs_ros.policy.server_needs import Needs
from hvs_ros.policy.server_request import Sampling
from hvs_ros.policy.server_settings import VIEW_SIZE, ServerSettings


@takes_model_settings
class ServerPolicy(ModelPolicy):
    """Lets a model on a server search.

    Args:
        base_url: of the server, or of several, separated by spaces or commas.
        model: as the server calls it; empty: the only one that it has.
        timeout: limit for one answer [s].
        connect_timeout: limit for a connection [s].
        retries: a request that failed on its way is repeated so many times.
        retry_wait: before the first repetition [s].
        verify_tls: whether certificates are checked.
        ca_file: certificates to check them against; empty: the machine's own.
        probe: whether a server is tried out first.
        view_size: the largest view that it must have room for.
        common: what all models have in common (``ModelSettings``).

    Raises:
        PolicyError: a setting cannot be.
        PolicyUnavailableError: a package is missing, no server can be reached, or one lacks what a search needs.
    """

    def __init__(
        self,
        base_url: str = "",
        model: str = "",
        *,
        timeout: float = 30.0,
        connect_timeout: float = 5.0,
        retries: int = 2,
        retry_wait: float = 0.5,
        verify_tls: bool = True,
        ca_file: str = "",
        probe: bool = True,
        view_size: str = VIEW_SIZE,
        **common: Any,
    ) -> None:
        require_openai()
        settings = ModelSettings.of(common)
        own = ServerSettings(
            base_url=base_url,
            model=model,
            timeout=timeout,
            connect_timeout=connect_timeout,
            retries=retries,
            retry_wait=retry_wait,
            verify_tls=verify_tls,
            ca_file=ca_file,
            probe=probe,
            view_size=view_size,
        )
        addresses(base_url)
        sampling = Sampling(settings.max_tokens, settings.temperature, settings.stops)
        needs = Needs(settings.views, own.view, settings.max_tokens)
        super().__init__(lambda: ServerEngine(own, sampling, needs, image_format=settings.image_format), settings)

    @staticmethod
    def crew(settings: Mapping[str, Any], size: int | None = None) -> Crew:
        """Return searchers that ask the same servers at the same time.

        Args:
            settings: as for the policy, but that an answer has five minutes by default.
            size: how many; None: 64.

        Raises:
            PolicyError: a setting that cannot be.
            PolicyUnavailableError: a package is missing.
        """
        own, common = settings_apart(settings, ServerSettings)
        return ServerCrew(ServerSettings(**{"timeout": ANSWER_S, **own}), common, SIZE if size is None else size)
