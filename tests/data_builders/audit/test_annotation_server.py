"""The server over sockets: headers, limits, and a second server on the same answers."""

import signal
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from audit_factories import sample_pairs
from audit_server import served
from test_annotation_pages import Page

from data_builders.audit.annotation import site
from data_builders.audit.annotation.choices import ChoiceTask
from data_builders.audit.annotation.local_site import HEADERS, Response
from data_builders.audit.annotation.site import MAX_BODY_BYTES, AuditServer, open_site
from data_builders.build import write_pairs
from judge_r1.core.errors import JudgeError
from judge_r1.labels.audit_answers import AnswerFileError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pairs(sample_pairs(), tmp_path)
    return tmp_path


def fetch(url: str, fields: dict[str, str] | None = None) -> Response:
    body = None if fields is None else urllib.parse.urlencode(fields).encode()
    try:
        with urllib.request.urlopen(url, body, timeout=20) as reply:
            return Response(reply.status, reply.read(), headers=dict(reply.headers))
    except urllib.error.HTTPError as error:
        return Response(error.code, error.read(), headers=dict(error.headers))


def choose_next(url: str, name: str) -> Response:
    page = Page(fetch(f"{url}pair?annotator={name}"))
    return fetch(f"{url}answer", {"annotator": name, "round": "1", "key": page.value("key"), "choice": "A"})


def test_interrupting_reports_the_number_of_answers(folder: Path) -> None:
    with served(folder) as (url, process):
        choose_next(url, "Ana")
        process.send_signal(signal.SIGINT)
        assert f"1 answer in {folder / 'answers.jsonl'}" in process.said()
        assert process.wait(timeout=20) == 0


@pytest.fixture
def audit(folder: Path) -> AuditServer:
    with AuditServer(open_site(ChoiceTask(sample_pairs()), folder / "answers.jsonl"), 0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_every_reply_has_the_headers(audit: AuditServer) -> None:
    for page in ("", "pair?annotator=Ana", "audit.js", "nothing"):
        reply = fetch(audit.url + page)
        assert {name: reply.headers[name] for name in HEADERS} == HEADERS
    assert fetch(f"{audit.url}audit.js").headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert fetch(audit.url.replace(audit.site.token, "guess")).status == 404


def test_large_bodies_and_idle_clients_are_rejected(audit: AuditServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (MAX_BODY_BYTES, 5_000_000):  # the client sends all of it before it reads the response
        assert fetch(f"{audit.url}answer", {"note": "x" * size}).status == 413
    monkeypatch.setattr(site._Handler, "timeout", 0.3)
    with socket.create_connection(audit.server_address[:2], timeout=20) as idle:  # type: ignore[arg-type]
        idle.sendall(b"POST / HTTP/1.0\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        assert idle.recv(1) == b""


def test_two_hosts_are_refused(audit: AuditServer) -> None:
    host, path = f"127.0.0.1:{audit.server_address[1]}", f"/{audit.site.token}/"
    for hosts, status in {(host,): b"200", (host, "evil.example"): b"403", (host, host): b"403"}.items():
        head = "".join(f"Host: {name}\r\n" for name in hosts)
        with socket.create_connection(audit.server_address[:2], timeout=20) as connection:  # type: ignore[arg-type]
            connection.sendall(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
            assert connection.recv(64).split()[1] == status


def test_a_file_and_a_port_can_be_used_once(audit: AuditServer, tmp_path: Path) -> None:
    with pytest.raises(AnswerFileError, match="in use by another process"):
        open_site(ChoiceTask(sample_pairs()), audit.site.log.path)
    with pytest.raises(JudgeError, match="choose another with --port"):
        AuditServer(open_site(ChoiceTask(sample_pairs()), tmp_path / "other.jsonl"), audit.server_address[1])
