"""Classes by name, through an entry-point group: policies, and command back ends of robots.

A package adds one by naming a class in the group; nothing here has to change. Those that ship with hvs_ros are found
even where its metadata is not installed (a source checkout on PYTHONPATH). While one is being written, its address
``module:Class`` will do for a name.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any


class PluginError(Exception):
    """There is no such class, or it does not take these settings; the message says which there are."""


class PluginImportError(PluginError):
    """Its module cannot be imported, for want of a package perhaps."""


@dataclass(frozen=True)
class Plugins:
    """The classes of a group.

    Attributes:
        group: of entry points.
        kind: what they are, for messages: "policy".
        shipped: addresses ``module:Class`` by name; also what setup.py declares, so that each has one address.
    """

    group: str
    kind: str
    shipped: Mapping[str, str]

    def names(self) -> list[str]:
        """Return the names that can be asked for, sorted."""
        return sorted({*self.shipped, *(point.name for point in entry_points(group=self.group))})

    def load(self, name: str) -> Any:
        """Return the class of that name, or at that address.

        Raises:
            PluginError: there is none.
            PluginImportError: its module cannot be imported.
        """
        points = [point for point in entry_points(group=self.group) if point.name == name]
        address = points[0].value if points else self.shipped.get(name, name)
        called = f"{self.kind} '{name}'"
        if ":" not in address:
            raise PluginError(f"there is no {called}; known are {', '.join(self.names())}, or write module:Class")
        module, _, attribute = address.partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            where = ""
            if error.name is not None and (error.name == module or module.startswith(f"{error.name}.")):
                where = f"; it is looked for in the folder in which hvs or the node was started ({_here()}), on"
                where += " PYTHONPATH, and among the installed packages"
            raise PluginImportError(f"{called} cannot be imported: {error}{where}") from error
        except ImportError as error:
            raise PluginImportError(f"{called} cannot be imported: {error}") from error
        except AttributeError as error:
            raise PluginError(f"{called} names {address}, which is not there") from error
        except (Exception, SystemExit) as error:  # anybody's code runs when it is imported
            raise PluginImportError(f"{called} cannot be imported: {error!r}") from error
        if not callable(found):
            raise PluginError(f"{called} names {address}, which is {found!r:.100}; a class is expected")
        return found

    def check_settings(self, name: str, plugin: Any, settings: Mapping[str, Any], *, given: int = 0) -> None:
        """Check that a class has these settings.

        Args:
            name: as it was asked for.
            plugin: the class.
            settings: keyword arguments.
            given: its first so many arguments are no settings.

        Raises:
            PluginError: one that it does not have.
        """
        found = parameters(plugin)[given:]
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in found):
            return
        known = [parameter.name for parameter in found]
        unknown = sorted(set(settings) - set(known))
        if unknown:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise PluginError(f"{self.kind} '{name}' has no setting {', '.join(unknown)}; {has}")


def parameters(plugin: Any) -> list[inspect.Parameter]:
    """Return what a class is called with; any settings at all where it does not tell, as one written in C."""
    try:
        return list(inspect.signature(plugin).parameters.values())
    except ValueError:
        return [inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD)]


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        return error.strerror or "gone"
