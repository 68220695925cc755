"""A reward model by TRL's RewardTrainer: what it reads, that it learns, resumes and judges, and what is refused."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from factories import mini_pairs
from reward_models import reward_model
from turn_recipes import timeless, turn_recipe

from data_builders.build import write_pairs
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import ScoresVerdict
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.yaml_config import ConfigError
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.judges.scalar import parts_of, scalar_ids
from judge_r1.models.hub import load_tokenizer
from judge_r1.models.pretrained import ModelUnavailable
from judge_r1.training.data.single_turn_data import preference_rows
from judge_r1.training.export_checkpoint import merge
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.resources import Resources

SCALAR = (
    "dpo.form=scalar",
    "dpo.epochs=12",
    "dpo.max_steps=-1",
    "dpo.learning_rate=3e-3",
    "episode.prompt_tokens=4000",
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reward") / "data"
    write_pairs(mini_pairs(16), folder)
    return folder


def margins(model: Path, data: Path) -> list[float]:
    """The score of the reference over that of the flawed reasoning, by `scalar@MODEL`."""
    pairs = load_pairs(data)
    found = []
    for output in run_all(make_judge(f"scalar@{model}", JudgeBuild("")), pair_benchmark(pairs).requests()):
        assert isinstance(output.verdict, ScoresVerdict)
        a, b = output.verdict.scores
        found.append(a - b if pairs.by_id()[output.request.item.item_id].preferred == "A" else b - a)
    return found


def test_it_reads_what_the_judge_reads(data: Path) -> None:
    pairs, tokenizer = load_pairs(data), SafeTokenizer(load_tokenizer("bundled:tiny"))
    rows = list(preference_rows(pairs, turn_recipe("dpo", data, *SCALAR), tokenizer, 0, None))
    for pair, row, request in zip(pairs.pairs, rows, pair_benchmark(pairs).requests(), strict=True):
        *asked, first = parts_of(request)
        other = request.task.candidates[1]  # type: ignore[union-attr]
        read = [scalar_ids(tokenizer, [*asked, text]) for text in (first, other)]
        assert [row["chosen_ids"], row["rejected_ids"]] == (read if pair.preferred == "A" else read[::-1])
        assert row["prompt_ids"] == []
        assert row["length"] == max(map(len, read)), "without EOS"
        assert len(asked) == 2, "the case and the decision"
    longest = max(row["length"] for row in rows)
    for limit in (longest, longest - 1):
        recipe = turn_recipe("dpo", data, *SCALAR, f"episode.prompt_tokens={limit}")
        with pytest.raises(PromptTooLong, match=f"has {longest} tokens, over") if limit < longest else nullcontext():
            assert list(preference_rows(pairs, recipe, tokenizer, 0, longest)) == rows


def test_a_trained_reward_model_judges_and_a_resumed_one_is_the_same(data: Path, tmp_path: Path) -> None:
    """Twelve epochs of 16 pairs. One step at almost no learning rate is the control: its head is random."""
    recipe = turn_recipe("dpo", data, *SCALAR)
    run_recipe(recipe, tmp_path / "run", Resources(1))
    rows = timeless(tmp_path / "run")
    assert rows[0]["loss"] == pytest.approx(0.69, abs=0.1)
    assert rows[-1]["loss"] < 0.5 * rows[0]["loss"]
    assert rows[-1]["preference_accuracy"] == 1
    assert {"preference_margin", "grad_norm"} <= rows[-1].keys()
    learned = margins(tmp_path / "run/model", data)
    assert sum(margin > 0 for margin in learned) >= 15
    control = turn_recipe("dpo", data, *SCALAR, "dpo.max_steps=1", "dpo.learning_rate=1e-12")
    run_recipe(control, tmp_path / "control", Resources(1))
    drawn = margins(tmp_path / "control/model", data)
    assert sum(margin > 0 for margin in drawn) <= 13
    assert max(map(abs, drawn)) < min(1.0, max(learned))

    for later in (tmp_path / "run/checkpoints").glob("checkpoint-*"):  # as a kill after step 22 leaves it
        if later.name.endswith("-24"):
            for file in later.iterdir():
                file.unlink()
            later.rmdir()
    for file in (tmp_path / "run/model").iterdir():
        file.unlink()
    (tmp_path / "run/model").rmdir()
    run_recipe(recipe, tmp_path / "run", Resources(1))
    assert margins(tmp_path / "run/model", data) == pytest.approx(learned)


def test_with_dev_pairs_its_best_checkpoint_and_a_merged_one_keep_the_head(data: Path, tmp_path: Path) -> None:
    write_pairs(mini_pairs(4, seed=1), tmp_path / "dev")
    dev = (f"data.dev={tmp_path / 'dev'}", "dpo.max_steps=2", "eval_every=1", "save_every=1")
    run_recipe(turn_recipe("dpo", data, *SCALAR, *dev), tmp_path / "run", Resources(1))
    merged = merge(tmp_path / "run")
    last = margins(tmp_path / "run/model", data)
    assert merged.step == 2
    assert margins(merged.folder, data) == pytest.approx(last)
    assert len(margins(tmp_path / "run/best", data)) == len(last)


def test_a_classifier_with_two_outputs_is_refused(data: Path, tmp_path: Path) -> None:
    two = reward_model(tmp_path / "two", outputs=2)
    recipe = turn_recipe("dpo", data, *SCALAR).model_copy(update={"model": two})
    with pytest.raises(ModelUnavailable, match="a classifier with 2 outputs"):
        run_recipe(recipe, tmp_path / "run", Resources(1))
    with pytest.raises(BadJudge, match="its head has 2 outputs"):
        margins(Path(two), data)


@pytest.mark.parametrize("change", [("lora.rank=4",), ("keep=best", "data.dev=data")])
def test_what_a_reward_model_cannot_have_is_refused(data: Path, change: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="form scalar trains all weights"):
        turn_recipe("dpo", data, *SCALAR, *change)


def test_it_is_no_judge_that_writes(data: Path, tmp_path: Path) -> None:
    run_recipe(turn_recipe("dpo", data, *SCALAR, "dpo.max_steps=1"), tmp_path / "run", Resources(1))
    assert "scalar@THIS_FOLDER" in (tmp_path / "run/model/README.md").read_text()
    with pytest.raises(JudgeError, match="lacks"):
        make_judge(f"direct@{tmp_path / 'run/model'}", JudgeBuild(""))
