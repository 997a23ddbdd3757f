"""Where what runs a model is not installed, everything else works, and what is missing is named with its extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HVS = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in (
            "torch", "transformers", "tokenizers", "safetensors", "bitsandbytes", "onnx", "onnxscript", "onnx_ir",
            "onnxruntime", "openai", "httpx", "aiohttp",
        ):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())

from hvs_ros.cli.main import main

sys.exit(main(sys.argv[1:]))
"""


def hvs(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HVS, *words], capture_output=True, text=True, timeout=100, check=False)


def test_each_policy_names_its_extra_and_the_others_are_ready() -> None:
    done = hvs("policies")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    said = {line.partition(":")[0]: lines[number + 1] for number, line in enumerate(lines) if line[0] != " "}
    for name, package in (("server", "openai"), ("torch", "torch"), ("onnx", "onnxruntime")):
        assert said[name].startswith(f"    NOT AVAILABLE: policy '{name}' needs the package '{package}'"), said[name]
        assert f"pip install -e '.[{name}]'" in said[name]
    assert said["random"] == "    ready"


@pytest.mark.parametrize(
    "words",
    [
        ("sim", "--in-process", "--policy", "server", "--base-url", "http://127.0.0.1:9/v1"),
        ("sim", "--in-process", "--policy", "torch", "--model", "FOLDER"),
        ("sim", "--in-process", "--policy", "onnx", "--model", "FOLDER"),
    ],
    ids=" ".join,
)
def test_it_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = hvs(*(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert done.returncode != 0
    assert "needs the package" in done.stderr and "pip install -e '.[" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_search_needs_none_of_them() -> None:
    done = hvs("sim", "--in-process", "--policy", "random", "--episodes", "1")
    assert done.returncode == 0, done.stderr
