"""Invented secrets are masked, look-alikes are not."""

import sys

import pytest
from secret_cases import HARMLESS, SECRETS

from judge_r1.core.errors import JudgeError
from judge_r1.core.trace_formats import Masked
from judge_r1.core.trace_formats.secret_rules import package_rules


def test_secrets_are_masked() -> None:
    missed = [text for text, secret in SECRETS if secret in Masked().text(text)]
    assert len(SECRETS) == 120
    assert missed == []


def test_look_alikes_are_not_masked() -> None:
    wrong = [text for text in HARMLESS if Masked().text(text) != text]
    assert len(HARMLESS) == 120
    assert wrong == []


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
