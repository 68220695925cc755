"""The departures from the paper that docs/recipes.md lists, each checked against the code."""

import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from random import Random

import pytest
from factories import ByteTokenizer, evidence, make_case, make_pair
from paths import RECIPES, REPO
from transformers import TrainingArguments

from data_builders.perturb.rules.engine import shuffled_combinations
from data_builders.sources import SOURCES
from judge_r1.cli.build import build
from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.machine import Episode, Finished, Sample
from judge_r1.episode.prompts import DIRECT, judge_prompt
from judge_r1.evaluation.metrics import label_scores
from judge_r1.training.data.targets import answer, question, violations
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.stage_config import DUAL_CLIP
from judge_r1.training.trl.common import common_arguments
from judge_r1.training.trl.objective import trl_objective
from judge_r1.training.verl.config import overrides

TOKENIZER = ByteTokenizer()
PAPER = sorted((RECIPES / "paper").glob("*.yaml"))


def paper(name: str) -> Recipe:
    return load_recipe(RECIPES / "paper" / f"{name}.yaml")


def verl_keys(name: str) -> list[str]:
    paths = {"train_parquet": Path("t"), "dev_parquet": Path("d"), "agent_loops": Path("a"), "checkpoints": Path("c")}
    return overrides(paper(name), **paths, cpu=False, gpus=8)  # type: ignore[arg-type]


def write(episode: Episode, text: str) -> None:
    ids = TOKENIZER.encode_trusted(text)
    episode.feed(ids, [0.0] * len(ids))


def cases() -> None:
    taught = {name: SOURCES.get(name).drafts is not None for name in ("medcasereasoning", "pilot", "deepreview")}
    assert taught == {"medcasereasoning": False, "pilot": True, "deepreview": True}


def flaws() -> None:
    defaults = {name: option.default for name, option in signature(build).parameters.items()}
    assert (defaults["teacher"], defaults["variants"]) == ("rules", 5)


def weight_decay() -> None:
    assert "actor_rollout_ref.actor.optim.weight_decay=0.0" in verl_keys("judge-r1-fc-search")
    assert TrainingArguments(output_dir="unused").weight_decay == 0
    assert "weight_decay" not in common_arguments(paper("sft-21k"), save_steps=1)


def no_action() -> None:
    assert Budget().no_action == "end"
    assert {load_recipe(path).episode.budget.no_action for path in PAPER} == {"notice"}


def eq_4() -> None:
    found = trl_objective(paper("judge-r1-fc-search"))
    assert (found["importance_sampling_level"], found["loss_type"], found["delta"]) == ("token", "dapo", DUAL_CLIP)
    assert "actor_rollout_ref.actor.loss_agg_mode='token-mean'" in verl_keys("judge-r1-fc-search")


def empty_query() -> None:
    episode = Episode([1], Budget(max_searches=2), TOKENIZER)
    write(episode, "<search> </search>")
    assert isinstance(episode.state, Sample)
    assert episode.turns[0].notice == "empty query; 1 searches left"


def wording_of_p3() -> None:
    assert not re.search("mitigat|equit", by_number(3).definition)


def wording_of_p2() -> None:
    assert "the facts that the case states" in by_number(2).definition


def table_11() -> None:
    case = make_case()
    prompt = judge_prompt(make_pair(case), case, context="full", searches=0, style=DIRECT).chat()
    text = "\n".join(message["content"] for message in prompt)
    assert all(f"{p.number}. {p.name}" in text for p in PRINCIPLES)
    assert {"comparison", "violated_principles", "explanation"} <= set(re.findall(r"\w+", text))


def f1_of_empty_sets() -> None:
    assert label_scores((), ()).f1 == 0
    with pytest.raises(ValueError, match="violated"):
        ReasoningPair.model_validate(make_pair(make_case()).model_dump() | {"violated": []})


def principles_of_a_rule_flaw() -> None:
    assert {len(found) for found in shuffled_combinations(Random(0))} == {2, 3, 4}


def table_6() -> None:
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


def table_7() -> None:
    case = make_case()
    pair = make_pair(case, violated=(3,))
    prompt, chosen, rejected = violations(pair, case, EpisodeConfig(), 0)
    assert chosen == "The reasoning violates principles [3]."
    assert re.fullmatch(r"The reasoning violates principles \[[12456]\]\.", rejected)
    [message] = prompt.chat()
    assert message["role"] == "user"
    places = [message["content"].index(text) for text in (by_number(3).definition, pair.flawed, case.context)]
    assert places == sorted(places), "principles, reasoning and case, as in the table"
    assert pair.reference not in message["content"]


def table_8() -> None:
    case, config = make_case(), paper("judge-r1-fc-search").episode
    searches = config.effective_budget.max_searches
    prompt = judge_prompt(make_pair(case), case, context="full", searches=searches, style=config.prompt)
    assert "You have 3 searches." in prompt.chat()[0]["content"]
    episode = Episode([1], config.budget, TOKENIZER)
    write(episode, "<search>q</search>")
    episode.observe(evidence("x"))
    assert "2 searches left" in bytes(episode.trajectory().token_ids).decode()


def response_limit() -> None:
    assert paper("judge-r1-fc-search").episode.effective_budget.episode_tokens == 7000
    assert paper("grpo-21k").episode.effective_budget.episode_tokens == 1000


def observations() -> None:
    budget = Budget(observation_tokens=300)
    assert paper("judge-r1-fc-search").episode.budget.observation_tokens == 1000
    episode = Episode([1], budget, TOKENIZER)
    write(episode, "<search>q</search>")
    episode.observe(evidence("x" * 100, "y" * 500))
    turn = episode.turns[0]
    assert (len(turn.passages), turn.passages_dropped) == (1, 1)


def prompts() -> None:
    assert {load_recipe(path).episode.prompt_tokens for path in PAPER} == {12_500}
    keys = verl_keys("judge-r1-fc-search")
    assert "data.max_prompt_length=12500" in keys
    assert "data.truncation='error'" in keys


def several_answers() -> None:
    episode = Episode([1], Budget(), TOKENIZER)
    first = '<answer>{"comparison": "A>B", "violated_principles": [1]}</answer>'
    write(episode, first + first.replace("A>B", "A<B"))
    assert isinstance(episode.state, Finished)
    assert episode.state.judgment is not None
    assert episode.state.judgment.comparison == "A>B"


def validation() -> None:
    recipe = paper("grpo-21k")
    assert (recipe.data.dev, recipe.eval_every) == (Path("runs/lrbench/dev"), 50)


def thinking() -> None:
    assert not any(load_recipe(path).episode.thinking for path in PAPER)


def steps() -> None:
    assert {paper(f"grpo-{size}k").grpo.steps for size in (21, 63, 105)} == {800}


def sft_and_dpo_values() -> None:
    sft, dpo = paper("sft-21k").sft, paper("dpo-21k").dpo
    assert (sft.learning_rate, sft.epochs, sft.batch_size) == (1e-5, 3, 64)
    assert (dpo.learning_rate, dpo.beta, dpo.epochs, dpo.batch_size) == (5e-6, 0.1, 3, 64)


def rationales() -> None:
    sft = paper("warmup-fc-search").sft
    assert (sft.traces, sft.traces_file) == (2000, None)


def offloading() -> None:
    assert not [key for key in verl_keys("judge-r1-fc-search") if "offload=true" in key.lower()]


def search_r1() -> None:
    trained, matched = paper("search-r1"), paper("judge-r1-search")
    assert (trained.model, trained.start) == ("Qwen/Qwen2.5-7B-Instruct", None)
    assert (trained.grpo.steps, trained.grpo.pairs_per_step) == (100, 512)
    assert trained.episode == matched.episode, "the rollouts of Judge-R1-search, in the pair's case"
    changed = {name for name, value in trained.grpo if value != getattr(matched.grpo, name)}
    assert changed == {"steps", "pairs_per_step"}
    rewards = [[key for key in verl_keys(name) if "reward" in key] for name in ("search-r1", "judge-r1-search")]
    assert rewards[0] == rewards[1] != []


CHECKS: dict[str, Callable[[], None]] = {
    "cases": cases, "flaws": flaws, "weight decay": weight_decay, "turn without an action": no_action, "Eq. 4": eq_4,
    "empty query": empty_query, "wording of P3": wording_of_p3, "wording of P2": wording_of_p2, "Table 11": table_11,
    "F1 of two empty sets": f1_of_empty_sets, "principles of a rule flaw": principles_of_a_rule_flaw,
    "Table 6": table_6, "Table 7": table_7, "Table 8": table_8, "response limit": response_limit,
    "observations": observations, "prompts": prompts, "several answers": several_answers, "validation": validation,
    "thinking": thinking, "steps": steps, "SFT and DPO values": sft_and_dpo_values, "rationales": rationales,
    "offloading": offloading, "Search-R1": search_r1,
}  # fmt: skip


def test_the_documentation_lists_the_departures_that_are_checked() -> None:
    text = (REPO / "docs" / "recipes.md").read_text().partition("### Departures")[2].partition("### Evaluate")[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == "departure"
    assert rows[1:] == list(CHECKS)


@pytest.mark.parametrize("departure", CHECKS)
def test_departure(departure: str) -> None:
    CHECKS[departure]()
