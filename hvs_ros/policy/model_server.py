"""One server of the OpenAI API, through the ``openai`` client."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.server_address import NO_KEY, ServerAddress
from hvs_ros.policy.server_errors import Remedy, ServerFault, fault_of, shown
from hvs_ros.policy.server_reply import Reply, json_of, read_reply
from hvs_ros.policy.server_request import Dialect, Sampling, chat_request
from hvs_ros.policy.server_settings import ServerSettings


class ModelServer:
    """Asks one server. It belongs to one event loop.

    Args:
        address: where it is.
        settings: time limits and certificates; retries are not made here.

    Attributes:
        address: where it is.
        dialect: whose server it is, as far as is known.
        model: as it calls it; empty: not known yet.
        context: tokens that it holds; None: it does not say.
        view_tokens: of the largest view with its marks, as it counted them; None: not known.
        checked: it is known to have what a search needs.

    Raises:
        PolicyError: the key cannot be one.
        PolicyUnavailableError: the client cannot be imported, or the certificates cannot be read.
    """

    def __init__(self, address: ServerAddress, settings: ServerSettings) -> None:
        self.address = address
        self.dialect = Dialect.of(address.host)
        self.model = settings.model
        self.context: int | None = None
        self.view_tokens: int | None = None
        self.checked = False
        self._settings = settings
        self._key = address.key()
        self._client = _client(address, settings, self._key)

    async def models(self) -> list[dict[str, Any]]:
        """Return its list of models.

        Raises:
            ServerFault: it has none, or cannot be reached.
        """
        body = json_of(await self._text(self._client.models.with_raw_response.list()))
        listed = body.get("data")
        if not isinstance(listed, list):
            raise ServerFault("its list of models is none", Remedy.RETRY)
        return [item for item in listed if isinstance(item, dict) and isinstance(item.get("id"), str)]

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Return what the model says next.

        Raises:
            ServerFault: no answer came.
            PolicyError: the provider does not let the model answer this.
        """
        request = chat_request(messages, model=self.model, sampling=sampling, dialect=self.dialect)
        try:
            return read_reply(await self._text(self._client.chat.completions.with_raw_response.create(**request)))
        except ServerFault as fault:
            # What a broken server says may hold the key as well.
            fault.args = (shown(str(fault), self._key),)
            raise

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def _text(self, request: Any) -> str:
        """Return the body of an answer."""
        limit_s = self._settings.timeout
        try:
            # The client's own limit is for the time between two packets.
            answer = await asyncio.wait_for(request, limit_s)
            return str(answer.http_response.text)
        except Exception as error:
            # Not chained: the client's exceptions hold the request with its headers.
            fault = fault_of(error, self.address, self._key, timeout_s=limit_s)
        raise fault


def require_openai() -> None:
    """Check that the client is installed, without importing it, which takes a second.

    Raises:
        PolicyUnavailableError: it is not.
    """
    try:
        found = importlib.util.find_spec("openai") is not None
    except ImportError:
        found = False
    if not found:
        raise _missing("No module named 'openai'")


def _openai() -> Any:
    try:
        return importlib.import_module("openai")
    except ImportError as error:  # it is there, and something that it needs itself is not
        raise _missing(str(error)) from error


def _missing(why: str) -> PolicyUnavailableError:
    return PolicyUnavailableError(
        f"policy 'server' needs the package 'openai' ({why}): the extra 'server' of hvs_ros, "
        "pip install -e '.[server]' in its folder"
    )


def _client(address: ServerAddress, settings: ServerSettings, key: str) -> Any:
    openai = _openai()
    verify: bool | ssl.SSLContext = settings.verify_tls
    if settings.ca_file and settings.verify_tls:
        try:
            verify = ssl.create_default_context(cafile=str(Path(settings.ca_file).expanduser()))
        except (OSError, ssl.SSLError) as error:
            raise PolicyUnavailableError(f"ca_file {settings.ca_file}: no certificates can be read: {error}") from error
    limits = openai.Timeout(settings.timeout, connect=settings.connect_timeout)
    client = openai.AsyncOpenAI(
        base_url=address.url,
        api_key=key or NO_KEY,
        max_retries=0,
        timeout=limits,
        # HTTP_PROXY, which many machines have set, is not meant for this machine itself.
        http_client=openai.DefaultAsyncHttpxClient(verify=verify, timeout=limits, trust_env=not address.local),
    )
    # They come from the environment and are OpenAI's business alone.
    client.organization = client.project = None
    return client
