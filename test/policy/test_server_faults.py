"""What can go wrong between here and a model server (S4): each fault has a name, and none is a turn of the model."""

from __future__ import annotations

import logging
import ssl
import subprocess
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import policy, search, view, wait_until

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.engine import Canceled
from hvs_ros.policy.server import ServerPolicy
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.task import Task

KEY = "sk-s3cr3t-0123456789"


@pytest.fixture
def server() -> Iterator[MockModelServer]:
    with MockModelServer() as server:
        yield server


@pytest.mark.parametrize("fault", ["drop", "408", "409", "429", "500", "503", "garbage", "html", "empty", "mute"])
def test_a_passing_fault_is_tried_again_and_costs_no_turn(server: MockModelServer, fault: str) -> None:
    asking = policy(server)
    server.fail(fault, times=2)
    (decision,) = search(asking)
    assert decision.status is ParseStatus.OK and "attempt 3" in decision.made
    assert len(server.questions) == 3
    assert len({str(asked.body) for asked in server.questions}) == 1, "the same request each time"
    asking.close()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("drop", "no connection"),
        ("429", "too much to do"),
        ("500", "HTTP 500: something is wrong here"),
        ("garbage", "no JSON object"),
        ("html", "is this the URL of an OpenAI-compatible server"),
        ("empty", "without a choice"),
        ("mute", "without a text"),
    ],
)
def test_a_lasting_fault_ends_the_search_with_its_name_and_the_next_one_is_served(
    server: MockModelServer, fault: str, reason: str
) -> None:
    asking = policy(server, retries=1)
    search(asking)
    server.fail(fault)
    asking.start(Task("find the exit sign"))
    with pytest.raises(PolicyUnavailableError, match=rf"in 2 attempts; model server {server.name}.*{reason}"):
        asking.decide(view(1))
    server.fail("")
    assert search(asking)[0].status is ParseStatus.OK
    asking.close()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("400", "HTTP 400: something is wrong here"),
        ("401", "put the right one into the environment variable HVS_API_KEY"),
        ("404", "check base_url"),
        ("422", "HTTP 422"),
        ("quota", "topped up"),
    ],
)
def test_what_another_attempt_cannot_mend_is_not_tried_again(server: MockModelServer, fault: str, reason: str) -> None:
    asking = policy(server)
    server.fail(fault)
    with pytest.raises(PolicyUnavailableError, match=reason):
        search(asking)
    assert len(server.questions) == 1
    asking.close()


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_no_answer_has_a_limit_even_where_something_comes(server: MockModelServer, fault: str) -> None:
    asking = policy(server, retries=1, timeout=1.0, probe=False, model="mock/HVS-3B")
    server.fail(fault)
    asking.start(Task("find the exit sign"))
    began = time.monotonic()
    with pytest.raises(PolicyUnavailableError, match="no answer within 1 s"):
        asking.decide(view(1))
    assert 1.9 < time.monotonic() - began < 10.0
    wait_until(lambda: server.canceled == 2, "the server to be told")
    asking.close()


def test_retry_after_is_honoured(server: MockModelServer) -> None:
    asking = policy(server)
    server.fail("429", times=1, retry_after="0.4")
    began = time.monotonic()
    search(asking)
    assert time.monotonic() - began > 0.4
    asking.close()


@pytest.mark.parametrize(
    ("fault", "status"), [("truncated", ParseStatus.TRUNCATED), ("refused", ParseStatus.NO_ANSWER)]
)
def test_what_the_model_itself_did_is_a_turn(server: MockModelServer, fault: str, status: ParseStatus) -> None:
    asking = policy(server)
    server.fail(fault, times=1)
    asking.start(Task("find the exit sign"))
    decision = asking.decide(view(1))
    assert decision.status is status and decision.action is None
    assert ("the model refused" in decision.made) == (fault == "refused")
    assert asking.decide(view(2)).status is ParseStatus.OK
    asking.close()


def test_a_providers_filter_is_named(server: MockModelServer) -> None:
    asking = policy(server)
    server.fail("filtered", times=1)
    with pytest.raises(PolicyError, match="content filter"):
        search(asking)
    asking.close()


def test_cancel_ends_the_request_at_the_server_and_a_late_answer_is_dropped(server: MockModelServer) -> None:
    asking = policy(server)
    server.fail("hang", times=1)
    asking.start(Task("find the exit sign"))
    canceled_at: list[float] = []

    def cancel() -> None:
        wait_until(lambda: len(server.questions) == 1, "the request")
        canceled_at.append(time.monotonic())
        asking.cancel()

    threading.Thread(target=cancel, daemon=True).start()
    with pytest.raises(Canceled):
        asking.decide(view(1))
    assert time.monotonic() - canceled_at[0] < 1.0, "0.2 s, and whatever a busy machine adds"
    wait_until(lambda: server.canceled == 1, "the server to be told")
    assert search(asking)[0].status is ParseStatus.OK
    asking.close()


def test_closed_in_mid_answer_it_lets_go(server: MockModelServer) -> None:
    asking = policy(server)
    server.fail("hang")
    asking.start(Task("find the exit sign"))
    ended: list[Exception] = []

    def decide() -> None:
        try:
            asking.decide(view(1))
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=decide, daemon=True)
    thread.start()
    wait_until(lambda: server.questions, "the request")
    asking.close()
    thread.join(5.0)
    assert not thread.is_alive() and isinstance(ended[0], Canceled)
    wait_until(lambda: server.canceled == 1, "the server to be told")
    with pytest.raises(Canceled):
        search(asking)


def test_a_restarted_server_serves_the_next_search(server: MockModelServer) -> None:
    asking = policy(server, retries=0)
    search(asking)
    server.stop()
    with pytest.raises(PolicyUnavailableError, match="no connection"):
        search(asking)
    server.start()
    assert search(asking)[0].status is ParseStatus.OK, "however long it was left out"
    asking.close()


def test_a_proxy_is_not_asked_about_this_machine(server: MockModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    asking = policy(server, retries=0)
    assert search(asking)[0].status is ParseStatus.OK
    asking.close()


def test_a_server_that_is_not_there_is_said_so() -> None:
    with MockModelServer() as server:
        url = server.base_url
    with pytest.raises(PolicyUnavailableError, match=r"in 2 attempts; model server 127.0.0.1.*no connection.*111"):
        ServerPolicy(base_url=url, retries=1, retry_wait=0.01)


def test_the_key_is_sent_and_shown_nowhere(
    server: MockModelServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HVS_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-programs")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-other-programs")
    caplog.set_level(logging.DEBUG)
    server.change(key=KEY)
    asking = policy(server, retries=0)
    (decision,) = search(asking)
    assert server.questions[-1].key == KEY
    texts = [decision.made, str(asking.describe()), caplog.text]
    server.change(key="another")  # and this server repeats the wrong one in its refusal
    with pytest.raises(PolicyUnavailableError, match="is not accepted") as refusal:
        search(asking)
    texts += ["".join(traceback.format_exception(refusal.value)), repr(refusal.value)]
    with pytest.raises(PolicyUnavailableError) as refusal:
        policy(server, retries=0)
    texts += ["".join(traceback.format_exception(refusal.value)), caplog.text]
    for text in texts:
        assert KEY not in text and "other-programs" not in text
    asking.close()


def test_without_a_key_it_says_where_to_put_one(server: MockModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HVS_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    server.change(key=KEY)
    with pytest.raises(PolicyUnavailableError, match=r"wants a key: put .* environment variable HVS_API_KEY"):
        policy(server)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a certificate for 127.0.0.1 that nobody has signed, and its key."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    what = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", path.with_suffix(".crt")]
    try:
        subprocess.run(["openssl", "req", "-x509", *what, *more], check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        pytest.skip(f"openssl makes no certificate: {error}")
    return path


def test_a_certificate_is_checked(certificate: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.with_suffix(".crt"), certificate)
    with MockModelServer(tls=context) as server:
        with pytest.raises(PolicyUnavailableError, match=r"CERTIFICATE_VERIFY_FAILED.*ca_file"):
            policy(server, retries=0)
        for settings in ({"ca_file": str(certificate.with_suffix(".crt"))}, {"verify_tls": False}):
            asking = policy(server, **settings)
            assert search(asking)[0].status is ParseStatus.OK
            asking.close()
