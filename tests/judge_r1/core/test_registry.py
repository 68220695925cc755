import sys
from pathlib import Path

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import ENTRY_POINTS, Registry, UnknownName


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[int]:
    """A package with two modules that register themselves."""
    package = tmp_path / "toy_registry"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from judge_r1.core.registry import Registry\nTHINGS = Registry('thing', __name__)\n", encoding="utf-8"
    )
    for name, value in (("one", 1), ("two", 2)):
        (package / f"{name}.py").write_text(f"from toy_registry import THINGS\nTHINGS.register('{name}')({value})\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in [m for m in sys.modules if m.split(".")[0] == "toy_registry"]:
        monkeypatch.delitem(sys.modules, module)
    from toy_registry import THINGS  # type: ignore[import-not-found]

    things: Registry[int] = THINGS
    return things


def test_a_new_file_in_the_package_is_found(registry: Registry[int]) -> None:
    assert registry.names() == ["one", "two"]
    assert registry.get("two") == 2


def test_a_look_up_imports_the_module_of_that_name_alone(registry: Registry[int]) -> None:
    assert registry.get("one") == 1
    assert "toy_registry.two" not in sys.modules
    assert "two" in registry
    assert "three" not in registry


def test_an_unknown_name_suggests_the_nearest(registry: Registry[int]) -> None:
    with pytest.raises(UnknownName, match="no thing is named 'tow'; did you mean 'two'"):
        registry.get("tow")
    with pytest.raises(UnknownName, match="available: one, two"):
        registry.get("zzzzz")
    assert issubclass(UnknownName, JudgeError)


def test_a_repeated_name_raises(registry: Registry[int]) -> None:
    registry.names()
    with pytest.raises(ValueError, match="two entries register as thing 'one'"):
        registry.register("one")(3)


def package(folder: Path, module: str, text: str) -> None:
    """An installed package with an entry point for its only module."""
    meta = folder / f"{module}_package-1.dist-info"
    meta.mkdir()
    (folder / f"{module}.py").write_text(text)
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}-package\nVersion: 1\n")
    (meta / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{module} = {module}\n")


def test_a_module_of_another_package_is_found(registry: Registry[int], tmp_path: Path) -> None:
    package(tmp_path, "toy_outside", "from toy_registry import THINGS\nTHINGS.register('three')(3)\n")
    assert registry.get("one") == 1
    assert "toy_outside" not in sys.modules
    assert registry.get("three") == 3
    assert registry.names() == ["one", "three", "two"]


def test_a_package_that_takes_a_built_in_name_loses_it(
    registry: Registry[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the look-up of another registry has imported the package first."""
    things = "from toy_registry import THINGS\nTHINGS.register('two')(9)\nTHINGS.register('three')(3)\n"
    package(tmp_path, "toy_taking", things)
    with pytest.raises(UnknownName):
        Registry[int]("other", "toy_registry").get("four")
    assert (registry.get("two"), registry.get("three")) == (2, 3)
    assert capsys.readouterr().err == (
        "warning: the entry point toy_taking = 'toy_taking' of package toy_taking-package names a thing 'two', which "
        "judge-r1 has built in and uses instead: rename it there\n"
    )


@pytest.mark.parametrize(
    "before", ["", "from toy_registry import THINGS\nTHINGS.register('three')(3)\n"], ids=["at once", "behind an entry"]
)
def test_a_package_that_cannot_be_loaded_is_one_error(before: str, registry: Registry[int], tmp_path: Path) -> None:
    package(tmp_path, "toy_broken", before + "import toy_missing\n")
    message = "'toy_broken' of package toy_broken-package cannot be loaded: ModuleNotFoundError.*; correct the package"
    for _ in range(2):
        with pytest.raises(JudgeError, match=message):
            registry.get("four")
