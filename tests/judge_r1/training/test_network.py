"""The interface that leads to another machine."""

import subprocess
import sys

import pytest

from judge_r1.training.network import address_towards, interface_of, interface_variables


def test_the_loopback_leads_to_this_machine() -> None:
    assert address_towards("127.0.0.1") == "127.0.0.1"
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("203.0.113.9") is None
    assert interface_variables("127.0.0.1", {}) == {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo"}


def test_variables_that_are_set_win() -> None:
    assert interface_variables("127.0.0.1", {"NCCL_SOCKET_IFNAME": "ib0"}) == {"GLOO_SOCKET_IFNAME": "lo"}
    assert interface_variables("no-such-host.invalid", {}) == {}


def test_a_name_that_leads_to_the_loopback_binds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's /etc/hosts gives a machine's own name 127.0.1.1. Other machines do not reach it there."""
    monkeypatch.setattr("judge_r1.training.network.address_towards", lambda host: "127.0.0.1")
    assert interface_variables("node-0", {}) == {}
    assert interface_variables("localhost", {}) == {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo"}


@pytest.mark.parametrize(
    ("command", "printed"), [((), "127.0.0.1"), (("bash", "-c", "echo $NCCL_SOCKET_IFNAME"), "lo")]
)
def test_it_runs_a_command_or_prints_the_address(command: tuple[str, ...], printed: str) -> None:
    words = [sys.executable, "-m", "judge_r1.training.network", "127.0.0.1", *command]
    assert subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout.strip() == printed
