"""The search on a robot's head, or on its physics twin: the head, the policy, by choice a recorder.

The nodes and their parameters come from ``hvs_ros.bringup``, as those of ``hvs real`` do. The robot's own drivers
(camera, joint states, robot_description, a controller of the neck) are started by the robot's own launch files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from hvs_ros.bringup import NodeSpec, real

BOOLEANS = ("true", "false")


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", description="Name of a file in config/robots/, or the path of one"),
            DeclareLaunchArgument(
                "twin", default_value="false", choices=BOOLEANS, description="A physics twin takes the robot's place"
            ),
            DeclareLaunchArgument(
                "scenes",
                default_value="",
                description="Folder of scenes or bare panoramas around the twin; empty: the samples",
            ),
            DeclareLaunchArgument("scene", default_value="", description="The twin's scene; empty: the first"),
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
                "confirm",
                default_value="false",
                choices=BOOLEANS,
                description="The robot's head may move; without it every move is refused. A twin needs none",
            ),
            DeclareLaunchArgument(
                "use_torso",
                default_value="false",
                choices=BOOLEANS,
                description="Torso joints help where the neck is not enough",
            ),
            DeclareLaunchArgument(
                "turn_base",
                default_value="false",
                choices=BOOLEANS,
                description="The base turns where the rest is not enough",
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

    def switch(name: str) -> bool:
        return argument(name) == "true"

    params_file, robot, twin = argument("params_file"), argument("robot"), switch("twin")
    specs = real(
        robot=robot,
        twin=twin,
        scenes=argument("scenes") or None,
        scene=argument("scene"),
        policy=argument("policy"),
        record=argument("record_dir") if switch("record") else None,
        confirm=switch("confirm"),
        use_torso=switch("use_torso"),
        turn_base=switch("turn_base"),
        namespace=argument("namespace"),
        parameter_files=[params_file] if params_file else [],
    )
    entities: list[LaunchDescriptionEntity] = [_node(spec, argument("log_level")) for spec in specs]
    if not twin and not switch("confirm") and not params_file:
        entities.insert(0, LogInfo(msg=f"{robot}: the head moves only with confirm:=true; every move is refused now"))
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
