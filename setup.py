"""Installs hvs_ros: run by colcon where ROS 2 is installed, and by pip where it is not.

The two differ in where executables go. colcon puts them in lib/hvs_ros (setup.cfg), where `ros2 run` and launch look;
pip puts them in bin, and knows no other place. So a wheel also carries small wrappers in lib/hvs_ros, and a colcon
install one in bin, for `hvs`.

There is no python_requires: colcon cannot read a setup.py that has one. CPython 3.10 to 3.13 is meant.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import find_packages, setup

NAME = "hvs_ros"
HERE = Path(__file__).absolute().parent
NODES = ("panorama_head", "robot_head", "neck_twin", "search_policy", "episode_recorder", "benchmark")
FOR_A_WHEEL = "bdist_wheel" in sys.argv

WRAPPER = """#!/bin/sh
exec "$(dirname "$0")/../../bin/$(basename "$0")" "$@"
"""


def files_below(folder: str) -> list[tuple[str, list[str]]]:
    """Return what data_files needs to install a folder with everything in it as share/hvs_ros/<folder>."""
    found: dict[str, list[str]] = {}
    for path in sorted((HERE / folder).rglob("*")):
        relative = path.relative_to(HERE)
        if path.is_file() and "__pycache__" not in relative.parts:
            found.setdefault(f"share/{NAME}/{relative.parent.as_posix()}", []).append(relative.as_posix())
    return list(found.items())


def executables() -> list[tuple[str, list[str]]]:
    """Return the wrappers that put executables where the installer in charge does not."""
    if not FOR_A_WHEEL:
        return [("bin", ["resource/bin/hvs"])]
    folder = HERE / "build" / "wrappers"
    folder.mkdir(parents=True, exist_ok=True)
    wrappers = []
    for name in ("hvs", *NODES):
        path = folder / name
        path.write_text(WRAPPER)
        path.chmod(0o755)
        wrappers.append(path.relative_to(HERE).as_posix())
    return [(f"lib/{NAME}", wrappers)]


setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *(entry for folder in ("config", "foxglove", "launch", "rviz", "scenes") for entry in files_below(folder)),
        *executables(),
    ],
    zip_safe=False,
    install_requires=["numpy", "opencv-python-headless", "PyYAML", "rich", "simplejpeg"],
    extras_require={
        # The policy `signs`; the weights of its text reader come inside rapidocr.
        "signs": ["onnxruntime", "rapidfuzz", "rapidocr"],
        # Bags. rosbags brings lz4 and zstd, which rescuing a bag needs as well.
        "record": ["rosbags>=0.11"],
        # A robot's neck from its URDF; and the same on a physics twin, with the robots whose URDFs are on PyPI.
        "robot": ["pin>=3"],
        "twin": ["pin>=3", "mujoco>=3.2", "icub-models", "hello-robot-stretch-urdf", "dexmate-urdf"],
        # Home-built heads of Dynamixel servos.
        "dynamixel": ["dynamixel-sdk"],
        # The model of the paper: behind an OpenAI-compatible server; in this process with torch; or with ONNX Runtime
        # (onnxruntime-gpu where there is a GPU), which runs what `hvs model export` has made.
        "server": ["openai>=1.40"],
        "torch": ["torch>=2.4", "transformers>=4.57", "safetensors", "tokenizers", "Pillow>=10.1"],
        "onnx": ["onnxruntime>=1.21", "tokenizers", "Pillow>=10.1"],
        "export": [
            *("torch>=2.8", "transformers>=4.57", "safetensors", "tokenizers", "Pillow>=10.1"),
            *("onnx", "onnx-ir>=0.1", "onnxscript", "onnxruntime>=1.21"),
        ],
        # Drawing scenes: python -m hvs_ros.mock.rooms.
        "rooms": ["Pillow>=10.1"],
        # ROS 2 Jazzy, only where no distribution is installed. hvs_interfaces is not on PyPI: pip install ./interfaces.
        "ros": [
            "ros-jazzy-rclpy",
            "ros-jazzy-rmw-fastrtps-cpp",
            "ros-jazzy-action-msgs",
            "ros-jazzy-builtin-interfaces",
            "ros-jazzy-diagnostic-msgs",
            "ros-jazzy-geometry-msgs",
            "ros-jazzy-lifecycle-msgs",
            "ros-jazzy-nav-msgs",
            "ros-jazzy-sensor-msgs",
            "ros-jazzy-std-msgs",
            "ros-jazzy-std-srvs",
            "ros-jazzy-trajectory-msgs",
        ],
        # launch_testing, where there is one, does not work with pytest 9.
        "test": [
            *("pytest<9", "pytest-rerunfailures", "pytest-timeout", "pytest-xdist>=3"),
            *("hypothesis", "Pillow>=10.1", "aiohttp", "mcap", "mcap-ros2-support", "setuptools>=70.1"),
        ],
        "lint": ["mypy", "ruff"],
        # `hvs bench --ray`: one run on many machines. The environment to train in, `hvs_ros.gym`.
        "ray": ["ray>=2.9"],
        "gym": ["gymnasium>=1.0"],
        # Renderers that benchmarks/view.py measures ours against.
        "renderers": ["py360convert", "pyequilib"],
    },
    entry_points={
        "console_scripts": [
            "hvs = hvs_ros.cli.main:main",
            *(f"{node} = hvs_ros.nodes.{node}:main" for node in NODES),
        ],
        "hvs_ros.command_backends": [
            "dynamixel = hvs_ros.nodes.commands.dynamixel:DynamixelCommands",
            "follow_joint_trajectory = hvs_ros.nodes.commands.follow_joint_trajectory:FollowJointTrajectoryCommands",
            "forward_position = hvs_ros.nodes.commands.forward_position:ForwardPositionCommands",
            "joint_trajectory = hvs_ros.nodes.commands.joint_trajectory:JointTrajectoryCommands",
        ],
        "hvs_ros.policies": [
            "keyboard = hvs_ros.policy.keyboard:KeyboardPolicy",
            "onnx = hvs_ros.policy.onnx_policy:OnnxPolicy",
            "random = hvs_ros.policy.random_walk:RandomPolicy",
            "replay = hvs_ros.policy.replay:ReplayPolicy",
            "server = hvs_ros.policy.server:ServerPolicy",
            "signs = hvs_ros.policy.signs:SignsPolicy",
            "torch = hvs_ros.policy.torch_policy:TorchPolicy",
        ],
    },
    author="hvs_ros maintainers",
    author_email="maintainers@example.org",
    maintainer="hvs_ros maintainers",
    maintainer_email="maintainers@example.org",
    description="Humanoid visual search in ROS 2: from 360-degree panoramas to the head of a robot",
    license="Apache-2.0",
)
