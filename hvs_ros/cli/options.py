"""Options of every verb that starts nodes, declared once so that they mean the same everywhere.

What the user does not give stays None and is left to the parameter file (see ``params_file``).
"""

from __future__ import annotations

import argparse
from typing import Any

from hvs_ros.cli.arguments import namespace, number, path, setting
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.sim_options import MOTION

SHORT_FORMS = (
    ("--base-url", "base_url", "of the model server, e.g. http://h100:8000/v1, for --policy server"),
    ("--model", "model", "which model decides: its name on the server, or its folder"),
    ("--prompts", "prompts", "how the model is asked: hvs, general, a YAML file, or the published prompt.py"),
)
"""Options that are settings of a policy: (option, setting, what it is)."""
_WITH_A_MODEL = "server, torch or onnx"
_HAVE_IT = {"base_url": "server", "model": _WITH_A_MODEL, "prompts": _WITH_A_MODEL}

LOG_LEVELS = ("debug", "info", "warn", "error")


def add_scenes(parser: argparse._ActionsContainer) -> None:
    """Declare where the scenes are."""
    parser.add_argument(
        "--scenes", type=path, metavar="DIR", help="scene folders, bare panoramas, or one of them; default: the samples"
    )


def add_policy(parser: argparse._ActionsContainer) -> None:
    """Declare who decides, and that policy's settings."""
    parser.add_argument("--policy", metavar="NAME", help="who decides (default signs): `hvs policies`")
    parser.add_argument(
        "--policy-setting",
        action="append",
        default=[],
        type=setting,
        metavar="KEY=VALUE",
        help="a setting of the policy; repeatable",
    )
    for option, name, meaning in SHORT_FORMS:
        parser.add_argument(
            option,
            action=_ShortForm,
            dest="policy_setting",
            const=name,
            default=argparse.SUPPRESS,
            metavar=name.rpartition("_")[2].upper(),
            help=f"{meaning}; short for --policy-setting {name}=...",
        )


def check_short_forms(args: argparse.Namespace, policy: str) -> None:
    """Refuse ``--base-url`` and the like for a policy that has no such setting.

    Raises:
        VerbError: naming the option and the policies that have it.
        PolicyError: there is no such policy.
    """
    from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
    from hvs_ros.policy.registry import check_policy, policy_settings

    for option, name in getattr(args, "short_forms", ()):
        try:
            check_policy(policy, {name: ""})
        except PolicyUnavailableError:
            raise
        except PolicyError as error:
            known = policy_settings(policy)
            has = f"its settings are {', '.join(known)}" if known else "it has no settings"
            raise VerbError(
                f"{option} does not go with the policy '{policy}': {has}; give --policy {_HAVE_IT[name]}", BAD_INPUT
            ) from error


class _ShortForm(argparse.Action):
    """Adds one setting of the policy."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add it as ``--policy-setting`` would, but as the text that it is."""
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), (self.const, values)])
        namespace.short_forms = [*getattr(namespace, "short_forms", ()), (option_string, self.const)]


def add_motion(parser: argparse._ActionsContainer) -> None:
    """Declare how the head moves."""
    parser.add_argument("--motion", choices=MOTION, help="how the head moves (default instant)")


def add_graph(parser: argparse._ActionsContainer, log_level: str) -> None:
    """Declare where the nodes live, their parameters, and what they log unless told otherwise."""
    parser.add_argument("--namespace", type=namespace, default="", metavar="NS", help="put every node there")
    parser.add_argument(
        "--domain", type=number(0, 232, int), metavar="ID", help="ROS domain (default: ROS_DOMAIN_ID, else 0)"
    )
    parser.add_argument(
        "--params-file", type=path, metavar="YAML", help="parameters of the nodes; options given go first"
    )
    parser.add_argument(
        "--log-level", choices=LOG_LEVELS, default=log_level, help=f"of the nodes (default {log_level})"
    )
