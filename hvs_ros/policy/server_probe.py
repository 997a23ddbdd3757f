"""Whether a server has what a search needs: the model, room for the pictures, and for the tokens.

A server with a default limit refuses the second picture, in the middle of the first search. So it is asked for one
token about as many small pictures as a request will ever hold, when the policy is made. What one view of full size
comes to is counted by it too: servers can be told to shrink pictures, which nothing else would tell.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.model_server import ModelServer
from hvs_ros.policy.server_errors import Remedy, ServerFault
from hvs_ros.policy.server_needs import Needs
from hvs_ros.policy.server_request import Dialect, Sampling
from hvs_ros.policy.shown import show

SMALL = (56, 56)
"""Of a picture that only counts; Qwen2.5-VL enlarges smaller ones."""
MOST_LISTED = 8
_ONE_TOKEN = Sampling(max_tokens=1)


async def probe(server: ModelServer, needs: Needs, *, image_format: str = "jpeg") -> None:
    """Check a server and note what it is.

    Raises:
        ServerFault: it cannot be reached; or, with Remedy.OTHER_SERVER, it lacks something, and the message says what.
    """
    listed = await _models(server)
    entry = _entry(server.model, listed)
    server.model = str(entry["id"])
    server.dialect = Dialect.of(server.address.host, str(entry.get("owned_by", "")))
    server.context = _context(entry)
    await _check_pictures(server, needs, image_format)
    server.view_tokens = await _view_tokens(server, needs, image_format)
    if server.context is not None:
        problem = needs.context_problem(server.context, server.dialect, server.view_tokens)
        if problem:
            raise ServerFault(problem, Remedy.OTHER_SERVER)
    server.checked = True


async def _models(server: ModelServer) -> list[dict[str, Any]]:
    try:
        return await server.models()
    except ServerFault as fault:
        if fault.status in (404, 405, 501):
            raise ServerFault(
                f"it has no list of models at {server.address.url}/models ({fault}); if it is right that it has none,"
                " set probe to false and name the model",
                Remedy.OTHER_SERVER,
                status=fault.status,
            ) from None
        raise


def _entry(wanted: str, listed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the model's entry in the list."""
    names = [str(item["id"]) for item in listed]
    if not wanted:
        # A LoRA adapter is listed beside the model that it adapts.
        if len(names) == 1:
            return listed[0]
        what = "it serves no model" if not names else f"it serves several models ({_few(names)})"
        raise ServerFault(f"{what}; give one's name as model", Remedy.OTHER_SERVER)
    for item in listed:
        # Gemini lists "models/NAME" and takes NAME.
        aliases = item.get("aliases")
        known = [item["id"], str(item["id"]).removeprefix("models/")]
        if wanted in known or (isinstance(aliases, list) and wanted in aliases):
            return {**item, "id": wanted}
    near = get_close_matches(wanted, names, 1)
    has = f"did you mean '{near[0]}'? It serves {_few(names)}" if near else f"it serves {_few(names) or 'no model'}"
    raise ServerFault(f"it does not serve the model '{wanted}'; {has}", Remedy.OTHER_SERVER)


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _context(entry: dict[str, Any]) -> int | None:
    """Return the context that a server holds: vLLM and SGLang say max_model_len, newer llama.cpp meta.n_ctx."""
    meta = entry.get("meta")
    for value in (entry.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


async def _check_pictures(server: ModelServer, needs: Needs, image_format: str) -> None:
    small = _picture(SMALL, image_format)
    try:
        await server.ask(_about(*[small] * needs.views), _ONE_TOKEN)
    except ServerFault as fault:
        advice = needs.advice(fault.told, server.dialect)
        if not advice:
            raise
        raise ServerFault(f"{fault}; {advice}", Remedy.OTHER_SERVER, status=fault.status, told=fault.told) from None
    except PolicyError as error:  # a filter that does not like gray pictures says nothing about the rest
        if "content filter" not in str(error):
            raise


async def _view_tokens(server: ModelServer, needs: Needs, image_format: str) -> int | None:
    """Return how many tokens a view of full size comes to with its marks; None: the server does not count."""
    counts = []
    for pictures in ((), (_picture(needs.view, image_format),)):
        try:
            reply = await server.ask(_about(*pictures), _ONE_TOKEN)
        except PolicyError:
            return None
        except ServerFault as fault:
            if fault.remedy is Remedy.NONE:  # most likely one view is too much already; that is judged by size
                return None
            raise
        if reply.usage.prompt_tokens is None:
            return None
        counts.append(reply.usage.prompt_tokens)
    return counts[1] - counts[0] if counts[1] > counts[0] else None


def _about(*pictures: Shown) -> tuple[Message, ...]:
    return (Message("user", (*pictures, "Answer with one word.")),)


def _picture(size: tuple[int, int], image_format: str) -> Shown:
    width, height = size
    return show(np.full((height, width, 3), 128, np.uint8), image_format)
