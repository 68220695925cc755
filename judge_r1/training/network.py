"""Finds the network interface that leads to another machine, for NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME.

    python -m judge_r1.training.network HOST              prints this machine's address on the way to HOST
    python -m judge_r1.training.network HOST COMMAND …    runs the command with both variables set

A machine of a cluster often has several networks: management, storage, Docker. Left alone, NCCL takes the first
interface that is up, and Gloo the one of the host name, which may be the loopback.
"""

import fcntl
import os
import socket
import struct
import sys
from collections.abc import Mapping, Sequence

INTERFACE_VARIABLES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
_SIOCGIFADDR = 0x8915
"""Linux: the IPv4 address of an interface."""


def address_towards(host: str) -> str:
    """The IPv4 address of this machine from which packets to `host` leave. Sends nothing.

    Raises:
        OSError: `host` cannot be resolved, or there is no route to it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))
        return str(probe.getsockname()[0])


def interface_of(address: str) -> str | None:
    """The name of the interface with this IPv4 address; None if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:
                found = fcntl.ioctl(any_socket, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:  # an interface without an IPv4 address
                continue
            if socket.inet_ntoa(found[20:24]) == address:
                return name
    return None


def interface_variables(host: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that bind NCCL and Gloo to the interface towards `host`, without those that are set already.

    None where the name of another network leads to the loopback, as that of this machine does in Debian's /etc/hosts:
    the other machines could not reach it there."""
    try:
        address = address_towards(host)
        interface = interface_of(address)
    except OSError:
        return {}
    if address.startswith("127.") and host != "localhost" and not host.startswith("127."):
        return {}
    return {name: interface for name in INTERFACE_VARIABLES if interface and name not in environment}


def free_port() -> int:
    """A TCP port that is free now."""
    with socket.socket() as any_socket:
        any_socket.bind(("", 0))
        return int(any_socket.getsockname()[1])


def main(arguments: Sequence[str]) -> None:
    host, *command = arguments
    if not command:
        print(address_towards(host))
        return
    os.environ.update(interface_variables(host))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
