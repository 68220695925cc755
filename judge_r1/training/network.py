"""Binds NCCL and Gloo to the network interface that leads to another machine: the cluster scripts run it.

    python -m judge_r1.training.network HOST              prints this machine's address on the way to HOST
    python -m judge_r1.training.network HOST COMMAND …    runs the command with both variables set

Left alone, NCCL takes the first interface that is up, and Gloo the one of the host name, which may be the loopback.
"""

import fcntl
import os
import socket
import struct
import sys
from contextlib import suppress


def address_towards(host: str) -> str:
    """The IPv4 address of this machine from which packets to `host` leave. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))
        return str(probe.getsockname()[0])


def bind(address: str) -> None:
    """Set the variables that are not set to the interface with this address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # an interface without an IPv4 address
                found = fcntl.ioctl(probe, 0x8915, struct.pack("256s", name.encode()[:15]))  # SIOCGIFADDR
                if socket.inet_ntoa(found[20:24]) == address:
                    os.environ.setdefault("NCCL_SOCKET_IFNAME", name)
                    os.environ.setdefault("GLOO_SOCKET_IFNAME", name)


if __name__ == "__main__":
    host, *command = sys.argv[1:]
    if not command:
        print(address_towards(host))
    else:
        with suppress(OSError):  # no way there: the command says it better
            # Debian's /etc/hosts gives a machine's own name a loopback address, which others could not reach.
            if host.startswith("127.") or not address_towards(host).startswith("127."):
                bind(address_towards(host))
        os.execvp(command[0], command)
