"""What may be written down: settings without keys and passwords.

Settings go into bags, results, reports and topics, which are passed on; a policy that asks a server may hold a key.
One rule decides for all of them, by the words of a setting's name: ``api_key`` and ``accessToken`` are not shown,
``max_tokens`` and ``keyboard`` are. A user and a password in a URL are hidden wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "(not shown)"
_SECRET = {"key", "keys", "apikey", "token", "password", "passwd", "passphrase", "secret", "secrets", "credentials"}
_IN_URL = re.compile(r"(\w+://)[^/\s@]*@")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values; what looks like a key or a password by its name, in nested mappings too, is not shown.

    An empty value stays: that there is no key is no secret.
    """
    return {name: _shown(name, value) for name, value in values.items()}


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_secrets(value)
    if isinstance(value, str):
        value = _IN_URL.sub(rf"\g<1>{HIDDEN}@", value)
    secret = bool(_SECRET & {word.lower() for word in _WORD.findall(str(name))})
    return HIDDEN if secret and value not in (None, "", False) else value
