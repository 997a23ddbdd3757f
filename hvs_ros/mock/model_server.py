"""A stand-in for a model server: it speaks the OpenAI API, checks what it is asked, and can go wrong in many ways.

    with MockModelServer(script="rotate(30,0); submit(30,0)") as server:
        ...                         # server.base_url, server.asked, server.canceled
        server.fail("500", times=2)

As a process: ``python -m hvs_ros.mock.model_server --port 8000 --script "rotate(30,0); submit(30,0)" --fault hang``.
Its answers are no model's; what they cost in tokens is counted by Qwen2.5-VL's rule.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from aiohttp import web

from hvs_ros.mock.mock_model import MockModel
from hvs_ros.mock.model_answers import Answers, generated
from hvs_ros.mock.model_faults import FAULTS, check_fault, error_response, go_wrong
from hvs_ros.mock.model_requests import Asked, RefusedError
from hvs_ros.policy.event_loop import EventLoopThread

LONGEST_BODY = 256 * 1024 * 1024
KEPT = 16
"""Requests that the process remembers: they hold pictures."""


class MockModelServer:
    """The server, in a thread of its own; a context manager.

    Args:
        port: to listen at; 0: any.
        host: to listen at.
        tls: with its certificate; None: unencrypted.
        on_request: is given a line about each request that has ended.
        keep: so many of the latest requests are in ``asked``; None: all of them.
        model: fields of ``MockModel``.

    Attributes:
        asked: the requests, in the order in which they came.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
        on_request: Callable[[str], None] | None = None,
        keep: int | None = None,
        **model: Any,
    ) -> None:
        self.asked: list[Asked] = []
        self._model = MockModel(**model)
        self._answers = Answers(self._model.script)
        self._host, self._port = host, port
        self._tls, self._on_request, self._keep = tls, on_request, keep
        self._turnstile = asyncio.Semaphore()
        self._fault, self._times, self._wait = "", 0, ""
        self._loop: EventLoopThread | None = None
        self._runner: web.AppRunner | None = None

    def __enter__(self) -> MockModelServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """Where it is."""
        return f"{'http' if self._tls is None else 'https'}://{self._host}:{self._port}/v1"

    @property
    def name(self) -> str:
        """Host and port."""
        return f"{self._host}:{self._port}"

    @property
    def canceled(self) -> int:
        """Requests that nobody waited for any more."""
        return sum(asked.ended == "canceled" for asked in self.asked)

    @property
    def questions(self) -> list[Asked]:
        """The requests without those that only try the server out."""
        return [asked for asked in self.asked if asked.limit > 1]

    def start(self) -> None:
        """Listen; at the same port as before, if it was stopped."""
        self._loop = EventLoopThread("mock_model_server")
        self._loop.run(self._listen())

    def stop(self) -> None:
        """End every request and listen no more."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close(self._close())

    def change(self, **model: Any) -> None:
        """Serve something else from now on: fields of ``MockModel``."""
        self._model = replace(self._model, **model)
        if "script" in model:
            self._answers = Answers(self._model.script)

    def fail(self, fault: str, times: int = sys.maxsize, retry_after: str = "") -> None:
        """Go wrong at the next requests for an answer.

        Args:
            fault: one of ``FAULTS``, or a status; empty: none any more.
            times: at so many of them.
            retry_after: what is said about when to come back.
        """
        check_fault(fault)
        self._fault, self._times, self._wait = fault, times, retry_after

    async def _listen(self) -> None:
        self._turnstile = asyncio.Semaphore(self._model.at_once or sys.maxsize)
        app = web.Application(client_max_size=LONGEST_BODY)
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/chat/completions", self._complete)
        # A handler ends when who asked is gone, as vLLM's do.
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, ssl_context=self._tls)
        await site.start()
        assert self._runner.addresses
        self._port = int(self._runner.addresses[0][1])

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _list(self, request: web.Request) -> web.StreamResponse:
        m = self._model
        try:
            self._model.check_key(_key(request))
        except RefusedError as error:
            return error_response(error)
        if not m.lists_models:
            return error_response(RefusedError("Not Found", 404, "NotFoundError"))
        return web.json_response({"object": "list", "data": m.entries()})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        asked = Asked({})
        self.asked.append(asked)
        if self._keep is not None:
            del self.asked[: -self._keep]
        began = time.monotonic()
        try:
            asked.key = _key(request)
            self._model.check_key(asked.key)
            return await self._answer(request, asked)
        except RefusedError as error:
            asked.ended = asked.ended or "refused"
            return error_response(error)
        except asyncio.CancelledError:
            asked.ended = "canceled"
            raise
        finally:
            if self._on_request is not None:
                took_s = time.monotonic() - began
                self._on_request(
                    f"turn {asked.turn}: {len(asked.pictures)} pictures, {asked.prompt_tokens} tokens,"
                    f" {asked.ended or 'failed'} after {took_s:.2f} s"
                )

    async def _answer(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        m = self._model
        try:
            body = await request.json()
        except ValueError as error:
            raise RefusedError(f"the body is no JSON: {error}") from error
        asked.body = body
        m.check(asked)
        fault = self._next_fault()
        if fault:
            asked.ended = fault
            response = await go_wrong(request, fault, self._wait)
            if response is not None:
                return response
        async with self._turnstile:
            await asyncio.sleep(m.delay_s)
        said = self._answers.say(asked)
        text, finish = generated(said + m.tail, asked, fault)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if fault == "filtered":
            message["content"], finish = None, "content_filter"
        elif fault == "refused":
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        elif fault == "mute":
            message["content"] = None
        asked.ended = fault or "answered"
        return web.json_response(self._completion(asked, message, finish, tokens=1 + len(text) // 4))

    def _completion(self, asked: Asked, message: dict[str, Any], finish: str, tokens: int) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{len(self.asked)}",
            "object": "chat.completion",
            "created": 1,
            "model": asked.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": asked.prompt_tokens,
                "completion_tokens": tokens,
                "total_tokens": asked.prompt_tokens + tokens,
                "prompt_tokens_details": {"cached_tokens": self._cached(asked)},
            },
        }

    def _cached(self, asked: Asked) -> int:
        """Return the part of the prompt that begins as the last request's did, roughly."""
        earlier = next((old for old in reversed(self.asked) if old is not asked and old.ended == "answered"), None)
        if earlier is None:
            return 0
        mine, theirs = asked.body["messages"], earlier.body["messages"]
        common = next(
            (i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs))
        )
        return asked.prompt_tokens * common // len(mine)

    def _next_fault(self) -> str:
        if not self._fault or self._times <= 0:
            return ""
        self._times -= 1
        return self._fault


def _key(request: web.Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def main(args: Sequence[str] | None = None) -> int:
    """Run it as a process until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m hvs_ros.mock.model_server", description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0: any; the URL is printed")
    parser.add_argument("--script", default=MockModel.script, help="e.g. 'rotate(30,0); submit(30,0)', or colour")
    parser.add_argument("--model", action="append", default=[], help="a name that it serves; repeatable")
    parser.add_argument("--owner", default=MockModel.owner, help="vllm, sglang, llamacpp, openai or any other")
    parser.add_argument("--context", type=int, default=MockModel.context, help="tokens")
    parser.add_argument("--image-limit", type=int, default=MockModel.image_limit, help="pictures in a request")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--at-once", type=int, default=0, help="answers at the same time; 0: any number")
    parser.add_argument("--unopened", action="store_true", help="pictures are not decoded: for measuring who asks")
    parser.add_argument("--quiet", action="store_true", help="print no line about each request")
    parser.add_argument("--fault", default="", help=f"{', '.join(FAULTS[1:])} or another status")
    parser.add_argument("--times", type=int, default=sys.maxsize, help="how often it goes wrong")
    given = parser.parse_args(args)
    server = MockModelServer(
        given.port,
        host=given.host,
        on_request=None if given.quiet else lambda line: print(line, flush=True),
        keep=KEPT,
        script=given.script,
        models=tuple(given.model) or MockModel.models,
        owner=given.owner,
        context=given.context,
        image_limit=given.image_limit,
        delay_s=given.delay,
        at_once=given.at_once,
        looks=not given.unopened,
    )
    try:
        server.fail(given.fault, given.times)
    except ValueError as error:
        parser.error(str(error))
    numbers = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)  # before there are threads, which inherit it
    with server:
        print(json.dumps({"base_url": server.base_url}), flush=True)
        signal.sigwait(numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
