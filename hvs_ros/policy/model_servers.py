"""Asks model servers: the asynchronous core, for one search or for many at once.

    servers = ModelServers(settings, sampling, needs)
    await servers.check()
    session = Session()                            # one for each search
    answer = await servers.answer(messages, session)

A request that fails on its way is repeated, on another server where there is one. What remains is an error of the
transport: the search ends POLICY_UNAVAILABLE, and none of its turns is used up by that. Cancelling the task closes the
connection at once, by which servers know that nobody waits for the answer any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Description
from hvs_ros.policy.model_server import ModelServer
from hvs_ros.policy.qwen.preprocess import picture_size
from hvs_ros.policy.server_address import addresses
from hvs_ros.policy.server_errors import Remedy, ServerFault
from hvs_ros.policy.server_needs import QWEN, Needs
from hvs_ros.policy.server_pool import Member, Pool
from hvs_ros.policy.server_probe import probe
from hvs_ros.policy.server_reply import Reply
from hvs_ros.policy.server_request import Dialect, Sampling
from hvs_ros.policy.server_retry import Backoff
from hvs_ros.policy.server_settings import ServerSettings
from hvs_ros.search.decision import Usage

_TRANSIENT = (Remedy.RETRY, Remedy.WAIT)


class Session:
    """One search: its turns go to the same server as long as that is alive, which has the earlier ones in its cache."""

    def __init__(self) -> None:
        self.member: Member[ModelServer] | None = None


class ModelServers:
    """Servers that are as good as each other. It belongs to one event loop.

    Args:
        settings: where they are, and how often and how long they are asked.
        sampling: how answers are chosen.
        needs: what the longest request will be.
        image_format: of the pictures.

    Raises:
        PolicyError: a setting cannot be.
        PolicyUnavailableError: the package openai is missing.
    """

    def __init__(
        self, settings: ServerSettings, sampling: Sampling, needs: Needs, *, image_format: str = "jpeg"
    ) -> None:
        found = addresses(settings.base_url)
        if not settings.probe and not settings.model:
            raise PolicyError("probe is off, so the server is not asked what it serves: give the model's name as model")
        self._settings, self._sampling, self._needs, self._format = settings, sampling, needs, image_format
        self._pool = Pool([ModelServer(address, settings) for address in found])

    @property
    def servers(self) -> tuple[ModelServer, ...]:
        """The servers, as they were named."""
        return tuple(member.server for member in self._pool.members)

    def describe(self) -> Description:
        """Return the model and who serves it."""
        known = next((server for server in self.servers if server.checked), self.servers[0])
        facts: dict[str, str | int | float | bool] = {"model": known.model, "runtime": known.dialect.value}
        if known.context is not None:
            facts["context"] = known.context
        if known.view_tokens is not None:
            facts["view_tokens"] = known.view_tokens
        if note := shrunk(known, self._needs):
            facts["note"] = note
        sampling = "greedy" if self._sampling.temperature <= 0 else f"temperature {self._sampling.temperature:g}"
        facts["sampling"] = f"{sampling} and at most {self._sampling.max_tokens} tokens"
        return facts

    async def check(self) -> None:
        """Try the servers out. One that cannot be reached is left out as long as there is another.

        Raises:
            PolicyUnavailableError: none can be reached, or one lacks what a search needs; the message says what.
        """
        if not self._settings.probe:
            return
        backoff = Backoff(self._settings.retry_wait)
        for attempt in range(self._settings.retries + 1):
            if attempt:
                await asyncio.sleep(backoff.next_s())
            members = self._pool.members
            faults = await asyncio.gather(*(self._probed(member) for member in members))
            for member, fault in zip(members, faults, strict=True):
                if fault is not None and fault.remedy not in _TRANSIENT:
                    raise PolicyUnavailableError(_said(member, fault))
            if None in faults:
                self._check_alike()
                return
        raise self._unavailable(attempts=self._settings.retries + 1)

    async def answer(self, messages: Sequence[Message], session: Session | None = None) -> Answer:
        """Return what the model says next.

        Args:
            messages: the conversation, a question last.
            session: the search that it belongs to.

        Raises:
            PolicyUnavailableError: no server answered.
            PolicyError: the provider does not let the model answer this.
        """
        session = session or Session()
        backoff = Backoff(self._settings.retry_wait)
        tried: list[Member[ModelServer]] = []
        hopeless: set[int] = set()
        attempts = max(self._settings.retries + 1, len(self._pool.members))
        for attempt in range(1, attempts + 1):
            member = self._pool.choose(tried, session.member)
            began = time.monotonic()
            try:
                reply = await self._asked(member, messages)
            except ServerFault as fault:
                if fault.remedy is Remedy.NONE:
                    advice = self._needs.advice(fault.told, member.server.dialect)
                    raise PolicyUnavailableError(_said(member, fault, advice)) from None
                tried.append(member)
                if fault.remedy not in _TRANSIENT:
                    hopeless.add(id(member))
                if attempt == attempts or len(hopeless) == len(self._pool.members):
                    break
                if not self._pool.alive(tried):
                    await asyncio.sleep(backoff.next_s(fault.wait_s))
                continue
            session.member = member
            took_s = time.monotonic() - began
            detail = self._detail(member, messages, reply, took_s, attempt)
            return Answer(reply.text, reply.finish, self._counted(member.server, messages, reply.usage), detail)
        raise self._unavailable(attempts=len(tried))

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(server.close() for server in self.servers), return_exceptions=True)

    async def _asked(self, member: Member[ModelServer], messages: Sequence[Message]) -> Reply:
        self._pool.began(member)
        try:
            if self._settings.probe and not member.server.checked:
                await probe(member.server, self._needs, image_format=self._format)
            reply = await member.server.ask(messages, self._sampling)
        except ServerFault as fault:
            self._note(member, fault)
            raise
        finally:
            self._pool.ended(member)
        self._pool.succeeded(member)
        return reply

    async def _probed(self, member: Member[ModelServer]) -> ServerFault | None:
        if member.server.checked:
            return None
        try:
            await probe(member.server, self._needs, image_format=self._format)
        except ServerFault as fault:
            self._note(member, fault)
            return fault
        self._pool.succeeded(member)
        return None

    def _note(self, member: Member[ModelServer], fault: ServerFault) -> None:
        if fault.remedy is Remedy.OTHER_SERVER:
            member.server.checked = False  # whoever runs it changed something
        if fault.remedy is Remedy.WAIT:
            self._pool.rests(member, fault.wait_s or 0.0, str(fault))
        elif fault.remedy is not Remedy.NONE:
            self._pool.failed(member, str(fault))

    def _check_alike(self) -> None:
        models = {server.model for server in self.servers if server.checked}
        if len(models) > 1:
            raise PolicyUnavailableError(
                f"the servers serve different models ({', '.join(sorted(models))}): give the name of one as model"
            )
        for server in self.servers:
            server.model = server.model or next(iter(models))

    def _unavailable(self, attempts: int) -> PolicyUnavailableError:
        times = "at the first attempt" if attempts == 1 else f"in {attempts} attempts"
        members = [member for member in self._pool.members if member.reason]
        faults = [f"model server {member.server.address.name}: {member.reason}" for member in members]
        return PolicyUnavailableError(f"no answer {times}; {'; '.join(faults)}")

    def _counted(self, server: ModelServer, messages: Sequence[Message], usage: Usage) -> Usage:
        """Return the usage with the last picture's tokens, where the server has counted a picture of that size."""
        pictures = [picture for message in messages for picture in message.pictures]
        if server.view_tokens is None or not pictures or (pictures[-1].width, pictures[-1].height) != self._needs.view:
            return usage
        return replace(usage, image_tokens=max(0, server.view_tokens - server.dialect.picture_marks))

    def _detail(
        self, member: Member[ModelServer], messages: Sequence[Message], reply: Reply, took_s: float, attempt: int
    ) -> str:
        pictures = [picture for message in messages for picture in message.pictures]
        parts = [f"server {member.server.address.name}", f"{took_s:.3f} s"]
        if attempt > 1:
            parts.append(f"attempt {attempt}")
        if reply.refused:
            parts.append("the model refused")
        if pictures:
            kilobytes = sum(len(picture.data) for picture in pictures) / 1000
            parts.append(f"{len(pictures)} pictures in {kilobytes:.0f} kB")
            if member.server.dialect is not Dialect.OPENAI:
                last = picture_size(pictures[-1].width, pictures[-1].height, QWEN)
                parts.append(f"the last {last} by Qwen2.5-VL's rule")
                if note := shrunk(member.server, self._needs):
                    parts.append(note)
        if reply.cached_tokens is not None:
            parts.append(f"{reply.cached_tokens} prompt tokens cached")
        return ", ".join(parts)


def shrunk(server: ModelServer, needs: Needs) -> str:
    """Return that a server makes something else of pictures than Qwen2.5-VL's own processor; empty: it does not."""
    if server.view_tokens is None or server.dialect is Dialect.OPENAI:
        return ""
    expected = needs.qwen_view.tokens
    counted = server.view_tokens - server.dialect.picture_marks
    width, height = needs.view
    return "" if counted == expected else f"this server makes {counted} tokens of a view of {width}x{height}"


def _said(member: Member[ModelServer], fault: ServerFault, advice: str = "") -> str:
    return f"model server {member.server.address.name}: {fault}" + (f"; {advice}" if advice else "")
