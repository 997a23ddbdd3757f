"""In how many ways the mock model server can go wrong."""

from __future__ import annotations

import asyncio

from aiohttp import web

from hvs_ros.mock.model_requests import RefusedError

FAULTS = (
    "",
    "hang",  # no answer, ever
    "drip",  # a byte now and then, and never an end
    "drop",  # the connection is closed
    "400",
    "401",
    "404",
    "408",
    "409",
    "429",
    "500",
    "503",  # any status can be given
    "quota",  # 429, and it will not get better
    "garbage",  # no JSON
    "html",  # a proxy's page
    "empty",  # no choices
    "mute",  # a message without a text
    "truncated",  # the token limit ended the answer
    "cut late",  # it ended what followed the answer
    "filtered",  # finish_reason content_filter
    "refused",  # the model's own refusal
)


def check_fault(fault: str) -> None:
    """Raise ValueError for a fault that is not known."""
    if fault not in FAULTS and not (fault.isdigit() and 400 <= int(fault) <= 599):
        raise ValueError(f"fault '{fault}' is not known; give {', '.join(FAULTS[1:])} or another status")


async def go_wrong(request: web.Request, fault: str, retry_after: str = "") -> web.StreamResponse | None:
    """Return what is sent instead of an answer; None: an answer is sent, and there is something wrong with it."""
    if fault == "hang":
        await asyncio.Event().wait()
    if fault == "drip":
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.02)
    if fault == "drop":
        assert request.transport is not None
        request.transport.close()
        return web.Response()
    if fault.isdigit():
        headers = {"Retry-After": retry_after} if retry_after else {}
        return error_response(RefusedError("something is wrong here", int(fault), "Error"), headers)
    if fault == "quota":
        words = "You exceeded your current quota (insufficient_quota)"
        return error_response(RefusedError(words, 429, "insufficient_quota"))
    if fault == "garbage":
        return web.Response(text='{"choices": [{"mess', content_type="application/json")
    if fault == "html":
        return web.Response(text="<html>It works!</html>", content_type="text/html")
    if fault == "empty":
        return web.json_response({"id": "x", "object": "chat.completion", "choices": []})
    return None


def error_response(error: RefusedError, headers: dict[str, str] | None = None) -> web.Response:
    """Return an error as vLLM writes it."""
    body = {"error": {"message": str(error), "type": error.kind, "param": None, "code": error.status}}
    return web.json_response(body, status=error.status, headers=headers)
