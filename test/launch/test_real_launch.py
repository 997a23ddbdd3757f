"""real.launch.py with a twin, against an installation: a whole search, recorded, and a clean end."""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

pytest.importorskip("launch_ros", reason="launch is part of a ROS distribution")
launch_testing = pytest.importorskip("launch_testing", reason="launch_testing is part of a ROS distribution")
pytest.importorskip("ament_index_python", reason="the ament index is part of a ROS distribution")
for package in ("pinocchio", "mujoco", "icub_models"):
    pytest.importorskip(package, reason="a twin needs the extra 'twin'")

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory  # noqa: E402
from launch import LaunchDescription  # noqa: E402
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402

from hvs_ros.nodes.head_watch import HeadWatch  # noqa: E402
from hvs_ros.nodes.search_client import SearchClient  # noqa: E402
from hvs_ros.nodes.spinning import spinning_node  # noqa: E402

try:
    SHARE = Path(get_package_share_directory("hvs_ros"))
except PackageNotFoundError:
    pytest.skip("hvs_ros is not in the ament index: source install/setup.bash", allow_module_level=True)

DOMAIN = os.getpid() % 90 + 10
RECORDINGS = Path(mkdtemp(prefix="hvs_ros_launch_"))
NAMESPACE = "tested"


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
    arguments = {
        "robot": "icub",
        "twin": "true",
        "policy": "random",
        "record": "true",
        "record_dir": str(RECORDINGS),
        "namespace": NAMESPACE,
    }
    return LaunchDescription(
        [
            SetEnvironmentVariable("ROS_DOMAIN_ID", str(DOMAIN)),
            SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / "launch" / "real.launch.py")),
                launch_arguments=arguments.items(),
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestWhileItRuns(unittest.TestCase):
    def test_a_search_on_the_twin_is_answered(self) -> None:
        with spinning_node("launch_test", NAMESPACE) as node, SearchClient(node) as client:
            HeadWatch(node).wait(60.0, print)
            record = client.search("find the exit sign", max_turns=3, server_limit_s=60.0)
        assert record.outcome.value in ("submitted", "turns exhausted"), record
        assert 1 <= len(record.turns) <= 3


@launch_testing.post_shutdown_test()
class TestAfterSigint(unittest.TestCase):
    def test_every_node_ended_cleanly(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_nobody_left_a_traceback(self, proc_output: Any) -> None:
        printed = "".join(line.text.decode(errors="replace") for line in proc_output)
        assert "Traceback" not in printed, printed

    def test_the_search_is_recorded(self) -> None:
        assert [folder.name for folder in RECORDINGS.iterdir() if (folder / "metadata.yaml").is_file()]
