"""What the mock model server serves, and what it refuses: as vLLM does, in its words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hvs_ros.mock.model_requests import Asked, RefusedError, read_request
from hvs_ros.policy.server_needs import QWEN


@dataclass(frozen=True)
class MockModel:
    """What is served.

    Attributes:
        script: what is said (``Answers``).
        models: names in the list.
        owner: whose server this is meant to be: "vllm", "sglang", "llamacpp", "openai" or any other.
        context: tokens; 0: it is not said.
        image_limit: pictures in a request.
        max_pixels: larger pictures are shrunk.
        key: that must come with a request; empty: none.
        delay_s: before each answer.
        at_once: so many are being answered at the same time, the others wait; 0: all.
        looks: opens the pictures; without, they are not decoded, and cost no tokens.
        tail: what the model would go on to say after its stop string.
        lists_models: whether there is a list of models.
    """

    script: str = "rotate(30,0); rotate(30,0); submit(60,0)"
    models: tuple[str, ...] = ("mock/HVS-3B",)
    owner: str = "vllm"
    context: int = 32768
    image_limit: int = 999
    max_pixels: int = QWEN.max_pixels
    key: str = ""
    delay_s: float = 0.0
    at_once: int = 0
    looks: bool = True
    tail: str = ""
    lists_models: bool = True

    def entries(self) -> list[dict[str, Any]]:
        """Return its list of models."""
        facts: dict[str, Any] = {"object": "model", "created": 1, "owned_by": self.owner}
        if self.owner == "llamacpp":
            facts["meta"] = {"n_ctx": self.context} if self.context else {}
        elif self.context and self.owner != "openai":
            facts["max_model_len"] = self.context
        return [{"id": name, **facts} for name in self.models]

    def check_key(self, key: str) -> None:
        """Raise RefusedError for a wrong key, which is repeated, as some servers do."""
        if self.key and key != self.key:
            raise RefusedError(f"Incorrect API key provided: {key}.", 401, "AuthenticationError")

    def check(self, asked: Asked) -> None:
        """Read a request.

        Raises:
            RefusedError: it is not as it should be, for another model, or too long.
        """
        form = replace(QWEN, max_pixels=self.max_pixels) if self.looks else None
        read_request(asked, owner=self.owner, form=form)
        name, needed = asked.body.get("model"), asked.prompt_tokens + asked.limit
        if name not in self.models:
            raise RefusedError(f"The model `{name}` does not exist.", 404, "NotFoundError")
        if len(asked.pictures) > self.image_limit:
            raise RefusedError(f"At most {self.image_limit} image(s) may be provided in one prompt.")
        if self.context and needed > self.context:
            raise RefusedError(
                f"This model's maximum context length is {self.context} tokens. However, you requested {needed} tokens"
                f" ({asked.prompt_tokens} in the messages, {asked.limit} in the completion). Please reduce the length"
                " of the messages or completion."
            )
