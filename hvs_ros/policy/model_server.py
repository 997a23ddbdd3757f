"""One server of the OpenAI API.

The HTTP client is that of the package ``openai``. Its methods are not used: they copy, check and encode a request's
pictures anew in each turn, which takes ten times as long as everything else.
"""

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
from hvs_ros.policy.server_errors import Remedy, ServerFault, fault_of, refusal, shown
from hvs_ros.policy.server_reply import Reply, json_of, read_reply
from hvs_ros.policy.server_request import Dialect, Sampling, chat_body
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
        self._clients = _Clients(address, settings, self._key)

    async def models(self) -> list[dict[str, Any]]:
        """Return its list of models.

        Raises:
            ServerFault: it has none, or cannot be reached.
        """
        body = json_of(await self._text("GET", "/models"))
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
        body = chat_body(messages, model=self.model, sampling=sampling, dialect=self.dialect)
        try:
            return read_reply(await self._text("POST", "/chat/completions", body), sampling.stop)
        except ServerFault as fault:
            # What a broken server says may hold the key as well.
            fault.args = (shown(str(fault), self._key),)
            raise

    async def close(self) -> None:
        """Close its connections."""
        await self._clients.close()

    async def _text(self, method: str, path: str, body: bytes | None = None) -> str:
        """Return the body of an answer."""
        limit_s = self._settings.timeout
        client = self._clients.take()
        try:
            # The client's own limit is for the time between two packets.
            request = client.request(method, f"{self.address.url}{path}", content=body)
            response = await asyncio.wait_for(request, limit_s)
            if response.is_success:
                return str(response.text)
            fault = refusal(response, self.address, self._key)
        except Exception as error:
            # Not chained: the client's exceptions hold the request with its headers.
            late = isinstance(error, (asyncio.TimeoutError, TimeoutError, self._clients.late))
            fault = fault_of(error, self._key, late=late, timeout_s=limit_s)
        finally:
            self._clients.give_back(client)
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


class _Clients:
    """HTTP clients of one server, one for each request under way.

    With many requests, one client would look at all of its connections at the beginning and at the end of each.

    Attributes:
        late: what they raise when the time is up.
    """

    def __init__(self, address: ServerAddress, settings: ServerSettings, key: str) -> None:
        self._openai = _openai()
        kinds = self._openai.DefaultAsyncHttpxClient.__mro__
        # Newer versions of openai have something else in the place of httpx.
        module = next(kind for kind in kinds if kind.__name__ == "AsyncClient").__module__
        httpx = importlib.import_module(module.partition(".")[0])
        self.late: type[Exception] = httpx.TimeoutException
        # HTTP_PROXY, which many machines have set, is not meant for this machine itself.
        trust_env = not address.local
        self._options = {
            # Reading the certificates takes longer than a request, so it is done once.
            "verify": _own_certificates(settings)
            or httpx.create_ssl_context(verify=settings.verify_tls, trust_env=trust_env),
            "timeout": httpx.Timeout(settings.timeout, connect=settings.connect_timeout),
            "headers": {
                "Authorization": f"Bearer {key or NO_KEY}",
                "Content-Type": "application/json",
                "User-Agent": "hvs_ros",
            },
            "trust_env": trust_env,
        }
        self._idle: list[Any] = []

    def take(self) -> Any:
        """Return a client that nobody uses; the last one that was used, whose connection is the freshest."""
        return self._idle.pop() if self._idle else self._openai.DefaultAsyncHttpxClient(**self._options)

    def give_back(self, client: Any) -> None:
        """Take back a client that is not used any more."""
        self._idle.append(client)

    async def close(self) -> None:
        """Close all that are not used; those that are, are of calls that were cancelled."""
        while self._idle:
            await self._idle.pop().aclose()


def _own_certificates(settings: ServerSettings) -> ssl.SSLContext | None:
    if not (settings.ca_file and settings.verify_tls):
        return None
    try:
        return ssl.create_default_context(cafile=str(Path(settings.ca_file).expanduser()))
    except (OSError, ssl.SSLError) as error:
        raise PolicyUnavailableError(f"ca_file {settings.ca_file}: no certificates can be read: {error}") from error
