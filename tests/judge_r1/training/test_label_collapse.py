from pathlib import Path

import pytest
from split_factories import mini_folder

from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment
from judge_r1.files.pair_set import load_pairs
from judge_r1.training.metric_names import GOLD, SHARE, CollapseWatch, label_shares
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.run_folder import RunFolder


def answered(*violated: int) -> Trajectory:
    return Trajectory.without_ids("answer", judgment=Judgment.pairwise("A>B", violated))


def test_the_shares_are_of_whole_sets_among_valid_answers(tmp_path: Path) -> None:
    pairs = load_pairs(mini_folder(tmp_path, 2)).pairs
    of = {violated: next(pair for pair in pairs if pair.violated == violated) for violated in [(1,), (2,), (4,)]}
    invalid = Trajectory.without_ids("no_answer")
    episodes = [
        (of[1,], answered(2)), (of[2,], answered(2)), (of[4,], answered(2)), (of[4,], answered(2, 4)), (of[1,], invalid)
    ]  # fmt: skip
    assert label_shares(episodes) == {SHARE: 0.75, GOLD: 0.5}
    assert label_shares(episodes[-1:]) == {}


@pytest.mark.parametrize(
    ("share", "gold", "warns"), [(0.95, 0.75, True), (0.95, 0.85, False), (0.75, 0.5, True), (0.9, 0.75, False)]
)
def test_ten_steps_in_a_row_warn_once(share: float, gold: float, warns: bool) -> None:
    watch = CollapseWatch()
    rows = [{"step": step, SHARE: share, GOLD: gold} for step in range(1, 31)]
    assert [row["step"] for row in rows if watch.warning(row)] == ([10] if warns else [])


def test_a_step_between_starts_the_count_anew_and_a_row_without_shares_does_not() -> None:
    watch, bad, good = CollapseWatch(), {"step": 1, SHARE: 1.0, GOLD: 0.5}, {"step": 1, SHARE: 0.5, GOLD: 0.5}
    rows = [*[bad] * 9, good, *[bad] * 9, {"step": 1, "loss": 0.0}, bad]
    assert [number for number, row in enumerate(rows) if watch.warning(row)] == [20]


def test_the_run_folder_prints_the_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunFolder(tmp_path, Recipe(name="r", stage="sft", model="m", data=DataConfig(train=Path("none"))))
    for step in range(12):
        run.log({"step": step, SHARE: 1.0, GOLD: 0.5})
    assert capsys.readouterr().err.count("warning: step 9: for 10 steps too many answers name the same principles") == 1
