"""A folder with a data set of other options is refused; the same options, and a stopped build, are not."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from data_builders.build import build
from data_builders.build_recipe import BuildRecipe, OtherBuild, refuse_other_build
from data_builders.generators import dataset_of
from data_builders.generators.base import RULES_VERSION
from judge_r1.core.errors import JudgeError

TEACHER = "chat@http://127.0.0.1:1/v1#toy"
MINI: dict[str, Any] = {"source": "mini", "variants": 2, "limit": 3}
VERIFIED = {"verifier": {"name": "chat:toy", "keep": "agreed"}}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    build("mini", out, variants=2, limit=3)
    return out


def report_of(out: Path, **changes: Any) -> None:
    """A build report as the build of a corpus by rules writes it."""
    settings = {"source": "custom", "path": "a.yaml", "limit": None, "seed": 0, "variants": 5, "kinds": ["single"]}
    report = settings | {"rules": RULES_VERSION, "cases": 3, "pairs": 9} | changes
    (out / "build.json").write_text(json.dumps({key: value for key, value in report.items() if value != "missing"}))


CUSTOM: dict[str, Any] = {"source": "custom", "path": Path("data/a.yaml"), "kinds": ["single"]}


def check(out: Path, options: dict[str, Any], **more: Any) -> None:
    refuse_other_build(out, BuildRecipe.model_validate(options | more))


def test_the_same_options_are_accepted(built: Path, tmp_path: Path) -> None:
    check(built, MINI)
    check(tmp_path / "new", MINI)
    check(tmp_path, MINI)
    report_of(tmp_path)
    check(tmp_path, CUSTOM)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seed": 1}, "with seed=0, and this one has seed=1"),
        ({"limit": None}, "with limit=3, and this one has no limit"),
        ({"variants": 5}, "with variants=2, and this one has variants=5"),
        ({"kinds": ["multi"]}, "with kinds=single,multi, and this one has kinds=multi"),
        ({"source": "builtin"}, "with the source mini, and this one has the source builtin"),
        ({"teacher": TEACHER}, "with teacher=rules, and this one has teacher=chat:toy"),
    ],
    ids=str,
)
def test_the_option_that_differs_is_named(more: dict[str, Any], message: str, built: Path) -> None:
    with pytest.raises(OtherBuild) as error:
        check(built, MINI, **more)
    assert str(error.value) == (
        f"{built} holds a build {message}: choose another --out, or add --overwrite to replace it"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"path": "b.yaml"}, "with path=b.yaml, and this one has path=a.yaml"),
        ({"candidates": 16}, "with candidates=16, and this one has no candidates"),
        ({"rules": 5}, "with version 5 of the rules, and this one has version 7 of the rules"),
        ({"teacher": {"name": "chat:toy"}}, "with teacher=chat:toy, and this one has teacher=rules"),
        ({"source": "missing", "generator": "cloze"}, "with the source cloze, and this one has the source custom"),
    ],
    ids=str,
)
def test_options_of_corpora_are_compared(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    report_of(tmp_path, **changes)
    with pytest.raises(OtherBuild, match=message):
        check(tmp_path, CUSTOM)


@pytest.mark.parametrize(
    ("verify", "keep", "message"),
    [
        (None, "agreed", "with verify=chat:toy, and this one has no verify"),
        (TEACHER.replace("toy", "other"), "agreed", "with verify=chat:toy, and this one has verify=chat:other"),
        (TEACHER, "all", "with keep=agreed, and this one has keep=all"),
        (TEACHER, "agreed", None),
    ],
)
def test_another_verifier_is_another_build(
    verify: str | None, keep: Literal["agreed", "all"], message: str | None, tmp_path: Path
) -> None:
    report_of(tmp_path, rules="missing", teacher={"name": "chat:toy"}, **VERIFIED)
    options = CUSTOM | {"teacher": TEACHER} | ({"verify": verify, "keep": keep} if verify else {})
    if message is None:
        check(tmp_path, options)
        return
    with pytest.raises(OtherBuild, match=message):
        check(tmp_path, options)


def test_a_teacher_of_conversations_verifies_itself_by_default(tmp_path: Path) -> None:
    verifier = {"name": "chat:toy", "is_the_writer": True}
    report_of(tmp_path, kinds="missing", teacher={"name": "chat:toy"}, conversation_verifier=verifier)
    check(tmp_path, CUSTOM, teacher=TEACHER)
    check(tmp_path, CUSTOM, teacher=TEACHER, verify=TEACHER)
    with pytest.raises(OtherBuild, match="with verify=chat:toy, and this one has verify=chat:other"):
        check(tmp_path, CUSTOM, teacher=TEACHER, verify=TEACHER.replace("toy", "other"))


def test_a_generator_that_does_not_exist_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "build.json").write_text('{"generator": "conversation"}')
    with pytest.raises(JudgeError, match=r"build\.json: no generator is named 'conversation'.*; build the data set"):
        dataset_of(tmp_path)
