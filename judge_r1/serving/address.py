"""Checks of the address to listen on, before the server and the model are loaded."""

import socket
from pathlib import Path

from judge_r1.core.endpoint import LOOPBACK
from judge_r1.core.errors import JudgeError


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
