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
    assert lines[0].startswith("tools: 1 BREAK, 1 pass, 0 skip, with pytest ")
    assert lines[0].endswith(", no-such-package (missing)")
    assert lines[1:] == ["  test_it::test_breaks: KeyError: 'cache'"]
    assert newest.trainer("tools", (), [str(tmp_path / "test_none.py")])[0].startswith("tools: 1 BREAK, 0 pass")


def test_nothing_that_ran_is_no_success(tmp_path: Path) -> None:
    """A package that cannot be imported breaks its trainer, in a test or a whole module; one of others does not."""
    test, module = tmp_path / "test_it.py", tmp_path / "test_module.py"
    test.write_text(
        "import pytest\n\n\ndef test_holds():\n    pass\n\n\n"
        "def test_own():\n    pytest.importorskip('no_such_package.part')\n\n\n"
        "def test_other():\n    pytest.skip('vllm is not installed here')\n"
    )
    module.write_text("import pytest\n\npytest.importorskip('skyrl_gone', reason='SkyRL is not installed: pip')\n")
    lines = newest.trainer("TRL", ("no_such_package",), [str(test)])
    assert lines[0].startswith("TRL: 1 BREAK, 1 pass, 2 skip, with ")
    assert lines[1:] == ["  test_it::test_own: could not import 'no_such_package"]
    assert newest.trainer("TRL", ("other",), [str(test)])[0].startswith("TRL: works, 1 pass, 2 skip, with ")
    [line, broken] = newest.trainer("SkyRL", (), [str(module)])
    assert line.startswith("SkyRL: 1 BREAK, 0 pass, 1 skip")
    assert broken.endswith("SkyRL is not installed")
    assert newest.trainer("TRL", (), [str(module)])[1:] == ["  no test ran"]


def test_an_unknown_trainer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["newest", "TRL", "SLIME"])
    with pytest.raises(SystemExit, match="there is no SLIME; the trainers are models, TRL, "):
        newest.main()


def test_the_tests_of_the_trainers_exist() -> None:
    for _, tests in newest.TRAINERS.values():
        assert all((REPO / "tests/judge_r1" / test).exists() for test in tests)
