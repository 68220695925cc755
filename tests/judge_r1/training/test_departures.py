"""What recipes of the paper choose where the paper is silent or differs: docs/recipes.md lists the departures."""

from pathlib import Path

import pytest
from factories import make_case, make_pair
from paths import RECIPES
from transformers import TrainingArguments

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.config import Budget
from judge_r1.evaluation.metrics import label_scores
from judge_r1.training.data.targets import answer, question
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.stage_config import DUAL_CLIP
from judge_r1.training.trl.common import common_arguments
from judge_r1.training.trl.grpo import trl_objective
from judge_r1.training.verl.config import overrides

PAPER = sorted((RECIPES / "paper").glob("*.yaml"))


def paper(name: str) -> Recipe:
    return load_recipe(RECIPES / "paper" / f"{name}.yaml")


def verl_keys(name: str) -> list[str]:
    paths = {"train_parquet": Path("t"), "dev_parquet": Path("d"), "agent_loops": Path("a"), "checkpoints": Path("c")}
    return overrides(paper(name), **paths, cpu=False, gpus=8)  # type: ignore[arg-type]


def test_weight_decay() -> None:
    assert "actor_rollout_ref.actor.optim.weight_decay=0.0" in verl_keys("judge-r1-fc-search")
    assert TrainingArguments(output_dir="unused").weight_decay == 0
    assert "weight_decay" not in common_arguments(paper("sft-21k"), save_steps=1)


def test_no_action() -> None:
    assert Budget().no_action == "end"
    assert {load_recipe(path).episode.budget.no_action for path in PAPER} == {"notice"}


def test_eq_4() -> None:
    found = trl_objective(paper("judge-r1-fc-search"))
    assert (found["importance_sampling_level"], found["loss_type"], found["delta"]) == ("token", "dapo", DUAL_CLIP)
    assert "actor_rollout_ref.actor.loss_agg_mode='token-mean'" in verl_keys("judge-r1-fc-search")


def test_f1_of_empty_sets() -> None:
    assert label_scores((), ()).f1 == 0
    with pytest.raises(ValueError, match="violated"):
        ReasoningPair.model_validate(make_pair(make_case()).model_dump() | {"violated": []})


def test_table_6() -> None:
    case = make_case()
    pair = make_pair(case, violated=(2,))
    gold = pair.gold
    assert answer(gold, "table6") == f"{gold.comparison}\nviolated_principles: [2]"
    prompt = question(pair, case, paper("sft-21k").episode, "table6")
    [message] = prompt.chat()
    instruction, shown = map(prompt.filled, prompt.messages)
    assert message == {"role": "user", "content": f"{instruction}\n{shown}"}
    assert all(f"{p.number}. {p.name}" in instruction for p in PRINCIPLES)
    places = [shown.index(text) for text in (case.case_id, case.context, case.decision)]
    assert places == sorted(places), "case id, context and decision, as in the table"
    assert shown.index(case.decision) < shown.index(pair.reasoning_a) < shown.index(pair.reasoning_b)


def test_prompts() -> None:
    assert {load_recipe(path).episode.prompt_tokens for path in PAPER} == {12_500}
    keys = verl_keys("judge-r1-fc-search")
    assert "data.max_prompt_length=12500" in keys
    assert "data.truncation='error'" in keys


def test_validation() -> None:
    recipe = paper("grpo-21k")
    assert (recipe.data.dev, recipe.eval_every) == (Path("runs/lrbench/dev"), 50)


def test_thinking() -> None:
    assert not any(load_recipe(path).episode.thinking for path in PAPER)


def test_steps() -> None:
    assert {paper(f"grpo-{size}k").grpo.steps for size in (21, 63, 105)} == {800}


def test_sft_and_dpo_values() -> None:
    sft, dpo = paper("sft-21k").sft, paper("dpo-21k").dpo
    assert (sft.learning_rate, sft.epochs, sft.batch_size) == (1e-5, 3, 64)
    assert (dpo.learning_rate, dpo.beta, dpo.epochs, dpo.batch_size) == (5e-6, 0.1, 3, 64)


def test_rationales() -> None:
    sft = paper("warmup-fc-search").sft
    assert (sft.examples, sft.rationales_file) == (2000, None)


def test_offloading() -> None:
    assert not [key for key in verl_keys("judge-r1-fc-search") if "offload=true" in key.lower()]


def test_search_r1() -> None:
    trained, matched = paper("search-r1"), paper("judge-r1-search")
    assert (trained.model, trained.start) == ("Qwen/Qwen2.5-7B-Instruct", None)
    assert (trained.grpo.steps, trained.grpo.pairs_per_step) == (100, 512)
    assert trained.episode == matched.episode, "the rollouts of Judge-R1-search, in the pair's case"
    changed = {name for name, value in trained.grpo if value != getattr(matched.grpo, name)}
    assert changed == {"steps", "pairs_per_step"}
    rewards = [[key for key in verl_keys(name) if "reward" in key] for name in ("search-r1", "judge-r1-search")]
    assert rewards[0] == rewards[1] != []
