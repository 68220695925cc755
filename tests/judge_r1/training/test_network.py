"""The interface that leads to another machine."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1 printenv NCCL_SOCKET_IFNAME GLOO_SOCKET_IFNAME", "lo\nib0"),
        ("localhost printenv NCCL_SOCKET_IFNAME", ""),  # a machine's own name may lead there
        ("no-such-host.invalid printenv NCCL_SOCKET_IFNAME", ""),
    ],
)
def test_it_runs_a_command_or_prints_the_address(words: str, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NCCL_SOCKET_IFNAME", raising=False)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "ib0")  # what is set wins
    command = [sys.executable, "-m", "judge_r1.training.network", *words.split()]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip() == printed
