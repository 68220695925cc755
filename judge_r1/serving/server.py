"""The app on a socket until it is told to stop: what is under way is answered, nothing new is taken."""

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
"""How long a server that was told to stop waits for what is under way."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_host(host: str, keys: Path | None) -> None:
    """Errors: JudgeError for a judge that anybody on the network could ask."""
    if host not in LOOPBACK and keys is None:
        raise JudgeError(
            f"--host {host} lets other machines in, and without --keys anybody may ask: make a file of keys with "
            "`judge-r1 keys add NAME --file keys.json` and serve with --keys keys.json"
        )


def check_free(host: str, port: int) -> None:
    """Before a model is loaded for nothing. Errors: JudgeError for an address that cannot be listened at."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(address)
    except OSError as error:
        raise JudgeError(
            f"cannot listen at {host}, port {port} ({error.strerror}): choose another --host or --port"
        ) from None


def run_app(service: Service, host: str, port: int) -> None:
    """Returns after SIGTERM or SIGINT, when what was under way is answered. Without keys only who calls this machine by
    its own name is answered: a page of the web that has its name point here (DNS rebinding) is not."""
    app: ASGIApp = create_app(service)
    if service.keys is None:
        app = TrustedHostMiddleware(app, allowed_hosts=[*LOOPBACK, "[::1]"])
    stopped = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:  # uvicorn raises the signal again when it is done; that must not kill who has ended in order
        uvicorn.run(app, host=host, port=port, timeout_graceful_shutdown=DRAIN_S, server_header=False)
    finally:
        for number, handler in stopped.items():
            signal.signal(number, handler)
