"""The shipped recipes: every row of the paper has one, it loads, and it has the paper's numbers."""

import subprocess
from pathlib import Path

import pytest
import yaml
from factories import ByteTokenizer, evidence
from paths import RECIPES

from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode, Finished, Sample, Search
from judge_r1.files.yaml_config import ConfigError
from judge_r1.training.pipeline import report
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from judge_r1.training.stage_graph import stage_runs
from judge_r1.training.verl.config import overrides
from judge_r1.training.verl.runner import shell_command

SHIPPED = sorted(
    path for folder in ("paper", "options", "sizes", "beyond") for path in (RECIPES / folder).glob("*.yaml")
)
SCALES = [f"{stage}-{size}k" for stage in ("sft", "dpo", "grpo") for size in (21, 63, 105)]
VARIANTS = [f"judge-r1-{name}" for name in ("fc", "warm-fc", "search", "fc-search", "warm-fc-search")]
TOKENIZER = ByteTokenizer()


def paper(name: str, *overrides: str) -> Recipe:
    return load_recipe(RECIPES / "paper" / f"{name}.yaml", overrides)


def test_every_row_of_the_paper_has_a_recipe() -> None:
    assert {*SCALES, *VARIANTS, "warmup-fc", "warmup-fc-search", "search-r1"} == {
        path.stem for path in SHIPPED if path.parent.name == "paper"
    }


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_recipe_loads_and_has_a_plan(path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(path)
    (tmp_path / "again.yaml").write_text(dump_recipe(recipe))
    assert load_recipe(tmp_path / "again.yaml") == recipe
    plan = "\n".join(report(stage_runs(recipe, Path("runs") / recipe.name), f"judge-r1 train {path}", 8))
    assert all(line.startswith("#") for line in plan.splitlines())
    assert (" parameters (" in plan) == (recipe.name != "yarn")  # whose model is a folder that the user makes
    assert f"judge-r1 train {path}" in plan
    assert ("verl.trainer.main_ppo" in plan) == (recipe.stage == "grpo")
    assert yaml.safe_load(dump_recipe(recipe) + plan) == yaml.safe_load(dump_recipe(recipe))


@pytest.mark.parametrize("name", [f"grpo-{size}k" for size in (21, 63, 105)] + VARIANTS)
def test_recipes_have_the_papers_numbers(name: str) -> None:
    recipe = paper(name)
    grpo, episode = recipe.grpo, recipe.episode
    assert (grpo.group_size, grpo.pairs_per_step, grpo.pairs_per_step // grpo.updates_per_step) == (5, 64, 32)
    assert (grpo.learning_rate, grpo.warmup_ratio, grpo.kl, grpo.temperature, grpo.steps) == (1e-6, 0.285, 1e-3, 1, 800)
    assert (episode.prompt_tokens, episode.budget.response_tokens, episode.budget.top_k) == (12_500, 1000, 3)
    assert episode.effective_budget.max_searches == (3 if "search" in name else 0)
    assert episode.context == ("none" if name == "judge-r1-search" else "full")
    assert (recipe.start is not None) == ("warm" in name)


def test_a_model_in_runs_is_that_of_a_recipe() -> None:
    """So that the message of a missing one names the recipe, which writes it there by default."""
    recipes = {path: load_recipe(path) for path in RECIPES.rglob("*.yaml") if path.parent.name != "data"}
    models = {recipe.model for recipe in recipes.values() if recipe.start is None and recipe.model.startswith("runs/")}
    assert models <= {f"runs/{path.relative_to(RECIPES).with_suffix('')}/model" for path in recipes}
    assert models <= {f"runs/{recipe.name}/model" for recipe in recipes.values()}


def test_the_printed_verl_command_passes_a_shell_unchanged(tmp_path: Path) -> None:
    """A shell reads the printed command as the keys that a run gives to verl."""
    recipe = paper("judge-r1-warm-fc-search")
    folder = tmp_path / "it's $HOME"
    lines = shell_command(recipe, folder, 8)
    assert lines[0].startswith("env VERL_USE_EXTERNAL_MODULES=judge_r1.training.verl.advantage ")
    printed = "\n".join([lines[0].replace(" python -m verl.trainer.main_ppo", " printf '%s\\n'"), *lines[1:]])
    keys = subprocess.run(["sh", "-c", printed], capture_output=True, text=True, check=True, timeout=60).stdout
    home = folder / "verl"
    absolute = recipe.model_copy(update={"model": str(Path(recipe.model).absolute())})
    files = {name: home / f"{name.removesuffix('_parquet')}.parquet" for name in ("train_parquet", "dev_parquet")}
    files |= {"agent_loops": home / "agent_loops.yaml", "checkpoints": folder / "checkpoints"}
    assert keys.splitlines() == overrides(absolute, **files, cpu=False, gpus=8)


def test_judge_r1_fc_equals_grpo_21k() -> None:
    assert paper("judge-r1-fc") == paper("grpo-21k")


@pytest.mark.parametrize(("name", "search"), [("warm-fc", False), ("warm-fc-search", True)])
def test_a_warm_up_has_2k_rationales_and_the_episode_of_the_next_stage(name: str, search: bool) -> None:
    recipe = paper(f"judge-r1-{name}")
    assert recipe.start is not None
    assert (recipe.start.sft.form, recipe.start.sft.examples) == ("rationales", 2000)
    assert recipe.start.episode == recipe.episode
    assert recipe.episode.search == search
    assert recipe.model == f"runs/{recipe.start.name}/model"


@pytest.mark.parametrize("size", [21, 63, 105])
def test_sft_and_dpo_train_the_rows_of_tables_6_and_7(size: int) -> None:
    sft, dpo = paper(f"sft-{size}k"), paper(f"dpo-{size}k")
    assert (sft.sft.form, sft.episode.prompt, dpo.dpo.form) == ("table6", "table6", "table7")


def longest_episode(budget: Budget) -> Episode:
    """An episode in which every turn and observation has the maximum length of the budget."""
    episode, searched = Episode([1], budget, TOKENIZER), 0
    search = "<search>q</search>"
    while not isinstance(episode.state, Finished):
        if isinstance(episode.state, Search):
            observed = episode.observe(evidence("x" * (budget.observation_tokens - observation_overhead(budget))))
            assert len(observed) == budget.observation_tokens
        else:
            assert isinstance(episode.state, Sample)
            end = search if searched < budget.max_searches else ""
            ids = TOKENIZER.encode_trusted("." * (budget.response_tokens - len(end)) + end)
            assert episode.feed(ids, [0.0] * len(ids)) == budget.response_tokens
            searched += 1
    return episode


def observation_overhead(budget: Budget) -> int:
    """Tokens of an observation without its passage."""
    episode = Episode([1], budget, TOKENIZER)
    ids = TOKENIZER.encode_trusted("<search>q</search>")
    episode.feed(ids, [0.0] * len(ids))
    return len(episode.observe(evidence("x"))) - 1


@pytest.mark.parametrize("name", VARIANTS)
def test_the_response_length_covers_the_longest_episode(name: str) -> None:
    """The paper's 1,000 tokens are for one turn: max_response_length = 4 x 1,000 + 3 x the observation cap."""
    recipe = paper(name)
    budget = recipe.episode.effective_budget
    keys = overrides(recipe, train_parquet=Path("t"), agent_loops=Path("a"), checkpoints=Path("c"), cpu=False, gpus=8)
    longest = len(longest_episode(budget).token_ids)
    assert longest == (4 * 1000 + 3 * budget.observation_tokens if budget.max_searches else 1000)
    assert f"data.max_response_length={longest}" in keys


def test_an_option_recipe_changes_only_its_option() -> None:
    row = paper("judge-r1-warm-fc-search")
    changes = {
        "dr-grpo": {"loss": "constant", "advantage_by_std": False},
        "clip-higher": {"clip_high": 0.28},
        "gspo": {"ratio": "sequence", "loss": "sequence-mean", "clip": 3e-4, "clip_high": 4e-4},
        "lora": {"learning_rate": 1e-5},
    }
    for name, changed in changes.items():
        option = load_recipe(RECIPES / "options" / f"{name}.yaml")
        assert option.grpo == row.grpo.model_copy(update=changed), name
        assert (option.lora is not None) == (name == "lora")
        assert option.model_copy(update={"name": row.name, "grpo": row.grpo, "lora": None}) == row


def test_the_model_of_a_recipe_with_a_start_cannot_be_overridden() -> None:
    with pytest.raises(ConfigError, match=r"set start\.model"):
        paper("judge-r1-warm-fc", "model=Qwen/Qwen3-4B")
    assert paper("judge-r1-warm-fc", "start.model=Qwen/Qwen3-4B").model == "runs/warmup-fc/model"
    assert paper("judge-r1-warm-fc", "start=null", "model=Qwen/Qwen3-4B").model == "Qwen/Qwen3-4B"
