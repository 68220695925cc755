"""Invented secrets are masked, look-alikes are not."""

import sys
import time

import pytest
import secret_cases_unseen as unseen
from secret_cases import HARMLESS, SECRETS

from judge_r1.core.errors import JudgeError
from judge_r1.traces import Masked
from judge_r1.traces.masking import AFTER, KNOWN, package_rules


def test_secrets_are_masked() -> None:
    missed = [text for text, secret in SECRETS if secret in Masked().text(text)]
    assert len(SECRETS) == 120
    assert missed == []


def test_look_alikes_are_not_masked() -> None:
    wrong = [text for text in HARMLESS if Masked().text(text) != text]
    assert len(HARMLESS) == 120
    assert wrong == []


def _left(secret: str, text: str) -> bool:
    size = min(len(secret), 8)
    return any(secret[i : i + size] in text for i in range(len(secret) - size + 1))


def test_lists_that_were_written_before_the_rules() -> None:
    """No part of a secret remains, but for one: what a shell prints into a file of a password."""
    missed = [text for text, secret in unseen.SECRETS if _left(secret, Masked().text(text))]
    wrong = [text for text in unseen.HARMLESS if Masked().text(text) != text]
    assert len(unseen.SECRETS) == len(unseen.HARMLESS) == 100
    assert (len(missed), wrong) == (1, [])
    assert missed[0].startswith("rsync --password-file=<(echo ")


@pytest.mark.parametrize(
    "code",
    [
        "hf_raise_for_status(response)", "session_id=session_id,", "client_secret: SessionClientSecret",
        "npm_config_registry_url", "a bearer credential or AWS credentials", "self.admin_api_key = admin_api_key",
        "container_registry_password=container_registry_password,", "git://[path-to-repo[:]][ref@]path/to/file",
        "TOKEN '{escaped_token}'", "smb://user:password@host/share", "token: re-exchanging on every call",
    ],
)  # fmt: skip
def test_code_is_not_masked(code: str) -> None:
    assert Masked().text(code) == code


@pytest.mark.parametrize("part", ["sk-", "cookie: a ", "a-", "--", "x-", "token", "aA1+/", "password", "curl ", "<p"])
def test_masking_is_linear(part: str) -> None:
    """Of 16 times the text, at most 64 times the time: quadratic rules need 256 times."""
    Masked().text(part)
    times = []
    for size in (4_000, 64_000):
        started = time.perf_counter()
        for rule in (KNOWN, *AFTER):
            rule.sub("", part * (size // len(part)))
        times.append(time.perf_counter() - started)
    assert times[1] < 64 * max(times[0], 0.01)


def test_masking_twice_changes_nothing() -> None:
    for text, _ in SECRETS:
        once = Masked().text(text)
        again = Masked()
        assert again.text(once) == once
        assert again.count == 0


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "detect_secrets.plugins.aws", None)
    package_rules.cache_clear()
    with pytest.raises(JudgeError, match=r"pip install 'judge-r1\[mask\]'"):
        Masked()
