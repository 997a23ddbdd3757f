"""A person at the keyboard, played by a pseudo terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from picture_scenes import blank

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.keyboard import KeyboardPolicy
from hvs_ros.policy.registry import create_policy
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.task import Task


class Person:
    """The other end of the terminal."""

    def __init__(self) -> None:
        self._fd, slave = pty.openpty()
        self.tty = os.ttyname(slave)
        self._slave = slave
        self.seen = ""
        self._left = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def types(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def types_at_prompt(self, keys: str) -> None:
        def wait_and_type() -> None:
            self.waits_for("> ")
            time.sleep(0.05)
            self.types(keys)

        threading.Thread(target=wait_and_type, daemon=True).start()

    def leaves(self) -> None:
        self._left.set()
        self._reader.join()
        for fd in (self._slave, self._fd):
            if fd >= 0:
                os.close(fd)
        self._slave = self._fd = -1

    def waits_for(self, text: str) -> None:
        deadline = time.monotonic() + 5
        while text not in self.seen.replace("\r", ""):
            assert time.monotonic() < deadline, f"never saw {text!r} in {self.seen!r}"
            time.sleep(0.01)

    def _read(self) -> None:
        # A read under way would keep the terminal open when it is closed.
        while not self._left.is_set():
            if select.select([self._fd], [], [], 0.02)[0]:
                self.seen += os.read(self._fd, 1024).decode()


@pytest.fixture
def person() -> Iterator[Person]:
    person = Person()
    yield person
    person.leaves()


@pytest.fixture
def policy(person: Person, tmp_path: Path) -> Iterator[KeyboardPolicy]:
    policy = KeyboardPolicy(tty=person.tty, view=str(tmp_path / "view.png"))
    policy.start(Task("find the exit"))
    yield policy
    policy.close()


@pytest.mark.parametrize(
    ("keys", "action"),
    [
        ("\x1b[C", Rotate(30, 0)),
        ("\x1b[D", Rotate(-30, 0)),
        ("\x1b[A", Rotate(0, 15)),
        ("\x1bOB", Rotate(0, -15)),
        ("rotate 45 -10\r", Rotate(45, -10)),
        ("rotate(-7.5, 2)\r", Rotate(-7.5, 2)),
        ("submit\r", Submit(120, 5)),
        ("\r", Submit(120, 5)),
        ("submit 10 -3\r", Submit(10, -3)),
        ("rotatee\x7f 5 5\n", Rotate(5, 5)),
    ],
)
def test_keys_and_typed_lines_are_actions(policy: KeyboardPolicy, person: Person, keys: str, action: Action) -> None:
    person.types(keys)
    decision = policy.decide(blank(yaw_deg=120.0, pitch_deg=5.0))
    assert decision.action == action


@pytest.mark.parametrize("line", ["jump 3 4", "rotate", "rotate nan 0", "rotate 1e9 0", "rotate 99999 0"])
def test_a_line_that_is_no_command_is_asked_again(policy: KeyboardPolicy, person: Person, line: str) -> None:
    person.types(f"{line}\r\r")
    assert policy.decide(blank(yaw_deg=120.0)).action == Submit(120, 0)
    person.waits_for("arrow keys")


def test_the_person_reads_the_task_and_sees_the_view(policy: KeyboardPolicy, person: Person, tmp_path: Path) -> None:
    person.types("\r")
    policy.decide(blank())
    person.waits_for("find the exit")
    person.waits_for(str(tmp_path / "view.png"))
    person.waits_for("10 left")
    picture = cv2.imread(str(tmp_path / "view.png"))
    assert picture is not None and np.array_equal(picture, blank().image)


def test_the_person_is_told_what_ends_what_and_how_to_see_the_view(policy: KeyboardPolicy, person: Person) -> None:
    for words in ("view.png", "reloads", "q gives up this search only", "Ctrl-C ends the whole run"):
        person.waits_for(words)


def test_what_is_done_stands_in_a_line_of_its_own(policy: KeyboardPolicy, person: Person) -> None:
    person.types_at_prompt("rotate 45 -10\r")
    policy.decide(blank())
    person.waits_for("> rotate 45 -10\nrotate(45,-10)\n")
    person.types("\x1b[C")
    policy.decide(blank())
    person.waits_for("> rotate(30,0)\n")


@pytest.mark.parametrize("keys", ["q", "\x04", "quit\r"])
def test_the_person_quits(policy: KeyboardPolicy, person: Person, keys: str) -> None:
    person.types_at_prompt(keys)
    with pytest.raises(PolicyError, match="gave up this search"):
        policy.decide(blank())


def test_a_terminal_that_goes_away_ends_it(policy: KeyboardPolicy, person: Person) -> None:
    threading.Timer(0.1, person.leaves).start()
    with pytest.raises(PolicyError):
        policy.decide(blank())


def test_close_ends_a_wait_for_a_key(person: Person, tmp_path: Path) -> None:
    policy = KeyboardPolicy(tty=person.tty, view=str(tmp_path / "view.jpg"))
    policy.start(Task("find the exit"))
    threading.Timer(0.1, policy.close).start()
    began = time.monotonic()
    with pytest.raises(PolicyError, match="closed"):
        policy.decide(blank())
    assert time.monotonic() - began < 2.0


def test_the_view_file_of_its_own_is_removed_at_the_end(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    policy = KeyboardPolicy(tty=person.tty)
    policy.start(Task("find the exit"))
    person.types("\r")
    policy.decide(blank())
    person.waits_for("view.jpg")
    path = Path(person.seen.split("the view is in ")[1].split("view.jpg")[0].replace("\r\n", "")) / "view.jpg"
    assert path.exists()
    policy.close()
    assert not path.parent.exists()


def test_without_a_terminal_it_is_unavailable_and_does_not_hang() -> None:
    code = (
        "from hvs_ros.policy.registry import create_policy\n"
        "from hvs_ros.policy.contract import PolicyUnavailableError\n"
        "try:\n    create_policy('keyboard')\n"
        "except PolicyUnavailableError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, start_new_session=True,
    )  # fmt: skip
    assert "needs a terminal" in done.stdout and "setting tty" in done.stdout, done


def test_a_process_of_another_session_uses_the_terminal_it_is_given(person: Person, tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from hvs_ros.angles import Direction\n"
        "from hvs_ros.policy.keyboard import KeyboardPolicy\n"
        "from hvs_ros.search.task import Task\n"
        "from hvs_ros.search.view import Observation\n"
        "policy = KeyboardPolicy(tty=sys.argv[1], view=sys.argv[2])\n"
        "policy.start(Task('find the exit'))\n"
        "image = np.zeros((54, 96, 3), np.uint8)\n"
        "print(policy.decide(Observation(image, Direction(0, 0), 100.0, 1, 10)).action)\n"
    )
    person.types_at_prompt("\x1b[C")
    done = subprocess.run(
        [sys.executable, "-c", code, person.tty, str(tmp_path / "view.jpg")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, start_new_session=True,
    )  # fmt: skip
    assert done.stdout == "rotate(30,0)\n", done


@pytest.mark.parametrize("tty", ["/dev/null", "/no/such/terminal"])
def test_a_path_that_is_no_terminal_is_refused_by_name(tty: str) -> None:
    with pytest.raises(PolicyUnavailableError, match=tty):
        create_policy("keyboard", {"tty": tty})


def test_a_view_that_cannot_be_written_is_refused(person: Person) -> None:
    with pytest.raises(PolicyUnavailableError, match="view"):
        create_policy("keyboard", {"tty": person.tty, "view": "/tmp/view.txt"})


def test_a_step_out_of_range_is_refused(person: Person) -> None:
    with pytest.raises(PolicyError, match="step_deg"):
        create_policy("keyboard", {"tty": person.tty, "step_deg": 0.0})
