"""The full build, small: copies are cases of their own, and the scripted teacher's answers on them are accepted."""

import csv
import json
import sys
from pathlib import Path

import pytest

from data_builders.validate import validate
from scripts.bench import full_build

SIZES = {"dev": 3, "test": 6, "train_42": 42, "train_84": 84}
"""The pairs of each part: two or four of each of seven sets in three domains."""


def test_a_renamed_word_is_the_same_word_everywhere() -> None:
    text = "The patient with ulcers had Ulcers in 1999, and no ulcers before."
    copies = [full_build.renamed(text, number) for number in range(26)]
    assert copies[0] == text
    assert len(set(copies)) == 26
    assert {len(copy) for copy in copies} == {len(text)}
    for copy in copies:
        words = copy.replace(",", "").replace(".", "").split()
        assert words[3] == words[5].lower() == words[10]
        assert words[7] == "1999"


def test_costs_count_the_input_that_the_cache_lacks_as_stored() -> None:
    row = full_build.spent(full_build.Tokens(calls=6000, input=750_000, output=75_000, cached=600_000))
    assert row["hours"] == 1
    assert row["claude-3.7-sonnet_usd"] == pytest.approx(0.8 * 0.3 + 0.2 * 3.75 + 0.1 * 15)
    assert row["gpt-4o_usd"] == pytest.approx(0.8 * 1.25 + 0.2 * 2.5 + 0.1 * 10)


@pytest.mark.real_data
def test_all_sets_are_there(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora = {  # four cases of each corpus, so that six need copies
        domain: full_build.Corpus(domain, real_data, 4).copies for domain in full_build.CORPORA
    }
    read = {source: [case for case, _ in corpora[domain]] for domain, (source, _) in full_build.CORPORA.items()}
    monkeypatch.setattr(
        full_build.SOURCES, "get", lambda name: type("Few", (), {"read": staticmethod(lambda *_: iter(read[name]))})
    )
    sizes = ["--cases", "6", "--sizes", "2", "4", "--test", "2", "--dev", "1"]
    monkeypatch.setattr(sys, "argv", ["full_build", "--data", str(real_data), "--out", str(tmp_path), *sizes])
    full_build.main()
    with (tmp_path / "full_build.csv").open(encoding="utf-8") as file:
        rows = {row["command"]: row for row in csv.DictReader(file)}
    assert {name: int(rows[name]["pairs"]) for name in SIZES} == SIZES
    assert int(rows["all"]["cases"]) == 18
    for name in SIZES:
        assert validate(tmp_path / "lrbench" / name).good
    assert json.loads((tmp_path / "lrbench" / "split.json").read_text())["near_duplicates"]["across"] == 0
