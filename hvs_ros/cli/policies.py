"""``hvs policies``: who can decide where the head turns."""

from __future__ import annotations

import argparse

NAME = "policies"
HELP = "list the policies, their settings, and whether they can be used here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", nargs="*", help="only these")


def run(args: argparse.Namespace) -> int:
    """Print each policy; the exit code is 1 when one that was named cannot be used."""
    from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
    from hvs_ros.policy.registry import create_policy, policy_names, policy_settings

    failed = False
    for name in args.name or policy_names():
        try:
            settings = policy_settings(name)
            print(f"{name}: {', '.join(f'{key}={value!r}' for key, value in settings.items()) or 'no settings'}")
            create_policy(name).close()
            print("    ready")
        except PolicyUnavailableError as error:
            failed = True
            print(f"    NOT AVAILABLE: {error}")
        except PolicyError as error:
            failed = True
            print(f"    needs settings: {error}")
        except (Exception, SystemExit) as error:  # anybody's code
            failed = True
            print(f"    FAILS: {error!r}")
    return 1 if failed and args.name else 0
