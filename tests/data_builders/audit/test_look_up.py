from pathlib import Path

import pytest
from split_factories import mini_folder

from data_builders.audit.look_up import look_up_margins, look_up_results
from judge_r1.cli.select import select
from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import load_pairs


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mini_folder(tmp_path_factory.mktemp("mini") / "data", 12)


def test_the_rule_finds_facts_and_inventions_and_no_flaw_that_the_text_shows(pairs: Path) -> None:
    data = load_pairs(pairs)
    found = {row.group: row for row in look_up_results(data.pairs, look_up_margins(data))}
    assert found["P2"].accuracy > 0.9
    assert found["P4"].accuracy > 0.9
    assert found["P1"].accuracy == found["P3"].accuracy == 0.5  # nothing differs that the case could have
    assert sum(found[name].pairs for name in ("single", "multi")) == len(data.pairs)


def test_select_writes_the_pairs_that_the_rule_finds_or_misses(pairs: Path, tmp_path: Path) -> None:
    for look_up in ("found", "missed"):
        select(pairs, tmp_path / look_up, look_up=look_up)  # type: ignore[arg-type]
    found, missed = (load_pairs(tmp_path / name) for name in ("found", "missed"))
    assert min(look_up_margins(found).values()) > 0 >= max(look_up_margins(missed).values())
    assert sorted([*found.ids, *missed.ids]) == sorted(load_pairs(pairs).ids)
    with pytest.raises(JudgeError, match="the rule has missed none of the"):
        select(tmp_path / "found", tmp_path / "again", look_up="missed")
    with pytest.raises(JudgeError, match="give --rating or --look-up, and not both"):
        select(pairs, tmp_path / "again")
    with pytest.raises(JudgeError, match="--band goes with --rating"):
        select(pairs, tmp_path / "again", look_up="missed", band="0,0.5")
