"""The workshop of the shipped cases: templates, scenarios, and mistakes in them."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from data_builders.sources.builtin_cases import scenario
from data_builders.sources.builtin_cases.grammar import draw, expand
from data_builders.sources.builtin_cases.scenario import ScenarioError, scenarios
from data_builders.sources.builtin_cases.steps import joined
from scripts.build_builtin_cases import overlap, runs

GOOD = "=== first\nkind: toy\nnormal: salts, blood\n--- facts\nTen sheep.\nTwo dogs.\n--- reasoning\nOne.\n\nTwo.\n"


def read(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> list[scenario.Scenario]:
    (folder / "toy").mkdir()
    (folder / "toy" / "01.txt").write_text(text, "utf-8")
    monkeypatch.setattr(scenario, "TEXTS", folder)
    return scenarios("toy")


def test_a_scenario_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = read(tmp_path, monkeypatch, GOOD)
    assert (found.slug, found.number, found.field("kind"), found.items("normal")) == (
        "first",
        0,
        "toy",
        ["salts", "blood"],
    )
    assert found.sections == {"facts": "Ten sheep.\nTwo dogs."}
    assert found.steps == ("One.", "Two.")
    with pytest.raises(ScenarioError, match="toy/first: field 'decision' is missing"):
        found.field("decision")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stray\n" + GOOD, "must begin with '=== slug'"),
        (GOOD + GOOD, "two scenarios have the name 'first'"),
        (GOOD.replace("kind: toy", "kind toy"), "'kind toy' is not a unique 'key: value' line"),
        (GOOD.replace("normal:", "kind:"), "is not a unique 'key: value' line"),
        (GOOD.partition("--- reasoning")[0], "'reasoning' is missing"),
        (GOOD.replace("Ten sheep.\nTwo dogs.", ""), "a section is empty"),
    ],
)
def test_a_mistake_is_named(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ScenarioError, match=message):
        read(tmp_path, monkeypatch, text)


def test_templates_choose_count_and_fill() -> None:
    template = "[a|the [old|new]] man of {60..69} paid {1200..1290,} and {0.50..0.59} to {who}"
    texts = {expand(template, Random(n), {"who": lambda: "Ana"}) for n in range(60)}
    heads = Counter(text.partition(" man")[0] for text in texts)
    assert set(heads) == {"a", "the old", "the new"}
    for text in texts:
        words = text.split(" man of ")[1].split()
        assert 60 <= int(words[0]) <= 69
        assert words[2].startswith("1,2")
        assert words[4][:3] == "0.5"
        assert words[-1] == "Ana"
    assert expand(template, Random(1), {"who": "Ana"}) == expand(template, Random(1), {"who": "Ana"})
    with pytest.raises(KeyError, match="who"):
        expand(template, Random(1))
    assert sorted(draw(["a", "b", "c"], 9, Random(0))) == ["a", "b", "c"]


def test_short_neighbours_are_joined() -> None:
    steps = ("one two three", "four", "five", "six seven eight")
    assert joined(steps, 3) == ["one two three", "four five", "six seven eight"]
    assert joined(steps, 9) == list(steps)


def test_overlap_counts_runs_of_eight_words() -> None:
    one = "a b c d e f g h i j"
    assert len(runs(one)) == 3
    assert overlap(runs(one), runs("A, b; c. d e f g h x y z")) == pytest.approx(1 / 3)
    assert overlap(runs(one), runs("short")) == 0
