"""Finds a set of prompts: one that ships, a YAML file, or the published environment's own prompt module."""

from __future__ import annotations

from pathlib import Path

from hvs_ros.policy.model_settings import Thought
from hvs_ros.policy.prompt import PromptError, Prompts
from hvs_ros.policy.prompt_file import PromptFile
from hvs_ros.policy.published_prompt import PublishedPrompt
from hvs_ros.share import ShareError, share_file, user_path

PUBLISHED = Path("vagen", "env", "hstar", "prompt.py")
"""Where it lies in a checkout of the published environment."""

_SUFFIXES = (".yaml", ".yml")


def prompt_set_names() -> list[str]:
    """Return the names of the sets that ship.

    Raises:
        PromptError: they are not installed.
    """
    return sorted(path.stem for path in _folder().glob("*.yaml"))


def load_prompts(name: str, thought: Thought = Thought.FREE) -> Prompts:
    """Return a set of prompts.

    Args:
        name: of ``prompt_set_names()``; or the path of a YAML file, of a prompt.py, or of a checkout that holds one.
        thought: what comes before an answer.

    Raises:
        PromptError: there is none, or something is wrong with it.
    """
    path = _find(name)
    return PublishedPrompt(path, thought) if path.suffix == ".py" else PromptFile(path, thought)


def _find(name: str) -> Path:
    if "/" not in name and not name.endswith((*_SUFFIXES, ".py")):
        shipped = _folder() / f"{name}.yaml"
        if shipped.is_file():
            return shipped
    path = user_path(name)
    if path.is_dir():
        path = path / PUBLISHED
    if path.is_file() and path.suffix in (*_SUFFIXES, ".py"):
        return path
    known = ", ".join(prompt_set_names())
    raise PromptError(
        f"there are no prompts {name!r}; known are {known}, or give the path of a YAML file or of a published prompt.py"
    )


def _folder() -> Path:
    try:
        return share_file("config", "policies")
    except ShareError as error:
        raise PromptError(str(error)) from error
