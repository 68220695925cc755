"""The line of each trainer in `make test-newest`."""

import sys
from pathlib import Path

import pytest
from paths import REPO

from scripts import newest


def test_what_breaks_is_named(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("def test_holds():\n    pass\n\n\ndef test_breaks():\n    raise KeyError('cache')\n")
    lines = newest.trainer("tools", ("pytest", "no-such-package"), [str(test)])
    assert lines[0].startswith("tools: 1 BREAK, 1 pass, with pytest ")
    assert lines[0].endswith(", no-such-package (missing)")
    assert lines[1:] == ["  test_it::test_breaks: KeyError: 'cache'"]
    assert newest.trainer("tools", (), [str(tmp_path / "test_none.py")])[0].startswith("tools: 1 BREAK, 0 pass")


def test_an_unknown_trainer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["newest", "TRL", "SLIME"])
    with pytest.raises(SystemExit, match="there is no SLIME; the trainers are models, TRL, "):
        newest.main()


def test_the_tests_of_the_trainers_exist() -> None:
    for _, tests in newest.TRAINERS.values():
        assert all((REPO / "tests/judge_r1" / test).exists() for test in tests)
