"""``hvs up``: brings up a head in a panorama and a policy, and leaves them running.

It does what ``ros2 launch hvs_ros sim.launch.py`` does, from the same description, where there is no launch.
"""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import path
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.graph import claimed, enter_domain, require_ros
from hvs_ros.cli.options import add_graph, add_motion, add_policy, add_scenes, check_short_forms

NAME = "up"
HELP = "bring up a head in a panorama and a policy, and leave them running for `hvs search` and other clients"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_scenes(parser)
    parser.add_argument("--scene", default="", metavar="NAME", help="to start in (default: the first)")
    add_policy(parser)
    parser.add_argument("--record", type=path, metavar="DIR", help="keep a bag of each search in DIR")
    add_motion(parser)
    add_graph(parser, log_level="info")


def run(args: argparse.Namespace) -> int:
    """Start the nodes, show what they say, and end them at Ctrl-C or when one of them has ended by itself."""
    require_ros()
    from hvs_ros.bringup import HEAD, POLICY, Bringup, sim
    from hvs_ros.cli.params_file import ParamsFile, chosen_scenes
    from hvs_ros.cli.sim_options import DEFAULT_POLICY
    from hvs_ros.cli.sim_plan import check_writable
    from hvs_ros.panorama.annotation import SceneError
    from hvs_ros.panorama.scene import load_scenes
    from hvs_ros.policy.contract import PolicyError
    from hvs_ros.policy.registry import check_policy
    from hvs_ros.share import ShareError, sample_scenes

    file = ParamsFile(args.params_file)
    in_head, in_policy = file.head(args.namespace), file.policy(args.namespace)
    settings = dict(args.policy_setting)
    scenes = chosen_scenes(args, in_head) or sample_scenes()
    try:
        name = args.policy or in_policy.text("policy") or DEFAULT_POLICY
        check_short_forms(args, name)
        check_policy(name, {**in_policy.settings(), **settings})
        load_scenes(scenes)  # the head would stay and wait for a better one
        specs = sim(
            scenes=scenes,
            scene=args.scene or in_head.text("scene") or "",
            policy=args.policy or "",
            record=args.record,
            namespace=args.namespace,
            parameter_files=[] if args.params_file is None else [args.params_file],
            parameters={
                HEAD: {"motion": args.motion} if args.motion else {},
                POLICY: {f"policy.{name}": value for name, value in settings.items()},
            },
        )
    except (PolicyError, SceneError, ShareError, ValueError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    if args.record is not None:
        check_writable(args.record)
    domain = enter_domain(args.domain)
    # Fast DDS reads its environment when rclpy is initialised: after this.
    from hvs_ros.nodes.benchmark_graph import GraphBackend, GraphError
    from hvs_ros.nodes.spinning import spinning_node

    where = "".join(
        f" --{name} {value}" for name, value in (("domain", args.domain), ("namespace", args.namespace)) if value
    )
    with claimed(domain, args.namespace), Bringup(specs, log_level=args.log_level, on_line=_say) as nodes:
        try:
            with (
                spinning_node("hvs_up", args.namespace) as node,
                GraphBackend(node, record=args.record is not None, trouble=nodes.trouble) as graph,
            ):
                graph.wait_until_ready(_tell)
            _tell(f'ready; Ctrl-C ends it; in another terminal: hvs search{where} "find the exit sign"')
            nodes.wait()
        except GraphError as error:
            raise VerbError(str(error)) from error
        except KeyboardInterrupt:
            _tell("ending")
            return 0
        raise VerbError(nodes.trouble())


def _say(name: str, line: str) -> None:
    print(f"[{name}] {line}", flush=True)


def _tell(text: str) -> None:
    print(f"hvs up: {text}", flush=True)
