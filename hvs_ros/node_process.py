"""Runs a module as ``python -m`` does, in a process that ends with the one that started it.

``python -m hvs_ros.node_process PARENT_PID MODULE ARGUMENTS...`` is how ``hvs_ros.bringup`` starts nodes: a launcher
that is killed cannot end its nodes, so each asks Linux for SIGTERM at the launcher's death. Until the node handles
signals itself, SIGINT ends it without a traceback.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Let this process get SIGTERM when the parent dies, and end it now if that has already happened."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(1)


def main() -> None:
    """Run the module that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    end_with(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
