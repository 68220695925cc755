"""Runs the app on a socket until SIGTERM or SIGINT, then finishes the requests that run."""

import signal
import socket
from pathlib import Path

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from judge_r1.core.errors import JudgeError
from judge_r1.serving.app import create_app
from judge_r1.serving.service import Service

DRAIN_S = 60
"""Seconds that a stopping server waits for running requests."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_host(host: str, keys: Path | None) -> None:
    """Raises JudgeError if the network could use the judge without a key."""
    if host not in LOOPBACK and keys is None:
        raise JudgeError(
            f"--host {host} opens the server to other machines, and without --keys anyone may use it: make a key file "
            "with `judge-r1 keys add NAME --file keys.json` and serve with --keys keys.json"
        )


def check_free(host: str, port: int) -> None:
    """Raises JudgeError if the address cannot be bound. Called before the model is loaded."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
    except OSError as error:
        raise JudgeError(
            f"cannot listen at {host}, port {port} ({error.strerror}): choose another --host or --port"
        ) from None


def run_app(service: Service, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT and returns when the running requests are answered.

    Without keys the server answers only requests to loopback host names. That blocks DNS rebinding: a web page whose
    host name resolves to this machine.
    """
    app: ASGIApp = create_app(service)
    if service.keys is None:
        app = TrustedHostMiddleware(app, allowed_hosts=[*LOOPBACK, "[::1]"])
    handlers = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:  # uvicorn raises the signal again after shutdown; that must not kill a process that stopped in order
        uvicorn.run(app, host=host, port=port, timeout_graceful_shutdown=DRAIN_S, server_header=False)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
