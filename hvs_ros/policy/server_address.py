"""Where model servers are, and which key is shown to which of them.

Keys come from the environment alone: parameters, command lines and URLs end up in bags, logs and process lists.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from hvs_ros.policy.contract import PolicyError

KEY_VARIABLE = "HVS_API_KEY"
"""A key for the servers that are named, whoever runs them."""
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
"""Many machines have this one set for other programs: it is shown to nobody but OpenAI."""
OPENAI_HOST = "api.openai.com"
NO_KEY = "EMPTY"
"""What is sent as a key when there is none, as vLLM's documentation does."""

_EXAMPLE = "e.g. http://h100:8000/v1"


@dataclass(frozen=True)
class ServerAddress:
    """A server of the OpenAI API.

    Attributes:
        url: scheme, host, port and path, without a slash at its end.
        host: name or address.
        name: host and port, for messages.
        encrypted: by TLS.
    """

    url: str
    host: str
    name: str
    encrypted: bool

    @property
    def local(self) -> bool:
        """What is sent does not leave this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def key(self, environment: Mapping[str, str] | None = None) -> str:
        """Return the key for this server; empty: there is none.

        Raises:
            PolicyError: it has characters that no key has; it is not repeated.
        """
        have = os.environ if environment is None else environment
        names = (OPENAI_KEY_VARIABLE, KEY_VARIABLE) if self.host == OPENAI_HOST else (KEY_VARIABLE,)
        for name in names:
            key = have.get(name, "").strip()
            if not (key.isascii() and key.isprintable()) or " " in key:
                raise PolicyError(f"the environment variable {name} holds characters that no key has; set it anew")
            if key:
                return key
        return ""


def addresses(text: str) -> tuple[ServerAddress, ...]:
    """Return the servers in a text, separated by spaces or commas.

    Raises:
        PolicyError: there is none, one is twice there, or one cannot be used; a password in it is not repeated.
    """
    found = tuple(_address(word) for word in re.split(r"[\s,]+", text.strip()) if word)
    if not found:
        raise PolicyError(f"base_url is empty: give the model server's URL (--base-url), {_EXAMPLE}")
    urls = [address.url for address in found]
    for url in urls:
        if urls.count(url) > 1:
            raise PolicyError(f"base_url names {url} more than once")
    return found


def _address(word: str) -> ServerAddress:
    try:
        parts = urlsplit(word)
        port = parts.port
    except ValueError:
        raise PolicyError(f"base_url is no URL ({_EXAMPLE})") from None
    if parts.username is not None or parts.password is not None:
        raise PolicyError(
            f"base_url has a user or a password in it, which would be recorded; give the URL without and put the key"
            f" into the environment variable {KEY_VARIABLE}"
        )
    if parts.query or parts.fragment:
        raise PolicyError(
            f"base_url of {parts.hostname} has a '?' or '#' in it; give it without, a key belongs into the"
            f" environment variable {KEY_VARIABLE}"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PolicyError(f"base_url is '{word}'; a URL with http:// or https:// is expected, {_EXAMPLE}")
    return _from_parts(parts, port)


def _from_parts(parts: SplitResult, port: int | None) -> ServerAddress:
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    if port is not None:
        name = f"{name}:{port}"
    # Whoever copies the address of a chat request means the server.
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return ServerAddress(f"{parts.scheme}://{name}{path}", host, name, parts.scheme == "https")
