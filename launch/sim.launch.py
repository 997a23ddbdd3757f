"""A head in a panorama and the policy that searches with it; by choice a recorder and a benchmark.

The nodes and their parameters come from ``hvs_ros.bringup``, as those of ``hvs sim`` do.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from hvs_ros.bringup import BENCHMARK, HEAD, NodeSpec, sim
from hvs_ros.share import sample_scenes

BOOLEANS = ("true", "false")


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "scenes", default_value=str(sample_scenes()), description="Folder of scenes or bare panoramas"
            ),
            DeclareLaunchArgument("scene", default_value="", description="Scene to start in; empty: the first"),
            DeclareLaunchArgument(
                "policy",
                default_value="",
                description="Who decides: see `hvs policies`, or module:Class; empty: as the parameters say, signs",
            ),
            DeclareLaunchArgument(
                "record", default_value="false", choices=BOOLEANS, description="Keep a bag of each search"
            ),
            DeclareLaunchArgument("record_dir", default_value="runs", description="Folder of those bags"),
            DeclareLaunchArgument(
                "benchmark",
                default_value="false",
                choices=BOOLEANS,
                description="Run every task of the scenes, print a table, and end",
            ),
            DeclareLaunchArgument(
                "results", default_value="", description="File that the benchmark keeps its results in; empty: none"
            ),
            DeclareLaunchArgument(
                "motion",
                default_value="",
                choices=("", "instant", "profile"),
                description="How the head moves: at once, or with limits; empty: as the parameters say, instant",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="Put before every name"),
            DeclareLaunchArgument(
                "params_file", default_value="", description="ROS parameter file, over the package's own in config/"
            ),
            DeclareLaunchArgument(
                "log_level",
                default_value="info",
                choices=("debug", "info", "warn", "error"),
                description="Of the nodes' own loggers",
            ),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    def argument(name: str) -> str:
        return LaunchConfiguration(name).perform(context)

    params_file, motion = argument("params_file"), argument("motion")
    specs = sim(
        scenes=argument("scenes"),
        scene=argument("scene"),
        policy=argument("policy"),
        record=argument("record_dir") if argument("record") == "true" else None,
        benchmark=argument("benchmark") == "true",
        results=argument("results") or None,
        namespace=argument("namespace"),
        parameter_files=[params_file] if params_file else [],
        parameters={HEAD: {"motion": motion}} if motion else {},
    )
    entities: list[LaunchDescriptionEntity] = []
    for spec in specs:
        node = _node(spec, argument("log_level"))
        entities.append(node)
        if spec.executable == BENCHMARK:
            done = EmitEvent(event=Shutdown(reason="the benchmark has ended"))
            entities.append(RegisterEventHandler(OnProcessExit(target_action=node, on_exit=[done])))
    return entities


def _node(spec: NodeSpec, log_level: str) -> Node:
    return Node(
        package="hvs_ros",
        executable=spec.executable,
        name=spec.name,
        namespace=spec.namespace,
        # In a file of their own: launch's own file for a dictionary would come before sections that name the node.
        parameters=[str(path) for path in spec.write_parameters(Path(tempfile.mkdtemp(prefix="hvs_ros_")))],
        remappings=list(spec.remappings),
        ros_arguments=["--log-level", f"{spec.logger}:={log_level}"],
        output="screen",
    )
