"""Measures a GRPO step by stage: ours on TRL, ours on verl, and TRL's own loop, with the same model, prompts and sizes.

    OMP_NUM_THREADS=1 python -m scripts.bench.grpo_step
    OMP_NUM_THREADS=1 python -m scripts.bench.grpo_step --engine trl --engine own --steps 4

Single-turn episodes without search, because TRL's own loop (`GRPOTrainer` without a rollout function, `model.generate`)
knows no other. Prompt ids, group size, temperature, objective and the longest episode are equal; the sampled tokens
differ as random numbers do, so times are also given per 1,000 of them. Every run has a process of its own. Times are
medians over the steps after the first. `generation_s` is the rollout, `score_s` log-probabilities of the policy and the
reference, rewards and advantages, `update_s` the rest of the step.
"""

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from judge_r1.files.pair_set import load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.training.recipe import Recipe, load_recipe
from scripts.bench.output import Row, draw_bars, parser_of, write_rows

ENGINES = {"trl": "ours on TRL", "verl": "ours on verl", "own": "TRL's own loop"}
STAGES = ("generation", "score", "update", "step")


def ours(recipe: Recipe, folder: Path) -> list[dict[str, float]]:
    """Trains a recipe. Seconds by stage and sampled tokens of each step."""
    from judge_r1.training.pipeline import run_recipe

    run_recipe(recipe, folder)
    episodes = recipe.grpo.pairs_per_step * recipe.grpo.group_size
    return [
        {stage: row.get(f"time/{stage}", 0.0) for stage in STAGES}
        | {"tokens": episodes * row["rollout/sampled_tokens"]}
        for row in read_rows(folder / "metrics.jsonl")
        if "rollout/sampled_tokens" in row  # the last row of a run sums it up
    ]


def own(recipe: Recipe, folder: Path) -> list[dict[str, float]]:
    """The same with TRL's trainer as it is."""
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from judge_r1.episode.reward import with_reward
    from judge_r1.episode.rollout import new_episode
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import eos_ids, load_model, load_tokenizer
    from judge_r1.training.data.training_pairs import pair_order
    from judge_r1.training.trl.grpo import trl_objective

    config, data = recipe.grpo, load_pairs(recipe.data.train)
    pairs, hf_tokenizer = data.by_id(), load_tokenizer(recipe.model)
    tokenizer, ends = SafeTokenizer(hf_tokenizer), eos_ids(recipe.model, hf_tokenizer)
    steps: list[dict[str, float]] = []

    def episode_of(pair_id: str) -> Any:
        return new_episode(pairs[pair_id], data, recipe.episode, tokenizer, ends)

    def reward(completion_ids: list[list[int]], pair_id: list[str], **_: Any) -> list[float]:
        rewards = []
        for ids, name in zip(completion_ids, pair_id, strict=True):
            episode = episode_of(name)
            episode.feed(ids, [0.0] * len(ids))
            found = with_reward(episode.trajectory(), pairs[name]).reward
            rewards.append(found["r"] if found else 0.0)
        steps[-1]["tokens"] = sum(map(len, completion_ids))
        return rewards

    class Timed(GRPOTrainer):  # type: ignore[misc]
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            found = super()._generate(*args, **kwargs)
            steps[-1]["generation"] = time.perf_counter() - started
            return found

        def _generate_and_score_completions(self, *args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            found = super()._generate_and_score_completions(*args, **kwargs)
            steps[-1]["score"] = time.perf_counter() - started - steps[-1]["generation"]
            return found

    class Steps(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
            steps.append({"began": time.perf_counter()})

        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            step = steps[-1]
            step["step"] = time.perf_counter() - step.pop("began")
            step["update"] = step["step"] - step["generation"] - step["score"]

    order = pair_order(data, config.steps * config.pairs_per_step, recipe.seed)
    rows = [{"prompt": "", "pair_id": data.pairs[i].pair_id} for i in order]
    for row in rows:
        ids = list(episode_of(row["pair_id"]).prompt_ids)
        row["prompt"] = tokenizer.decode(ids)
        assert hf_tokenizer(row["prompt"], add_special_tokens=False)["input_ids"] == ids
    episodes = config.pairs_per_step * config.group_size
    arguments = GRPOConfig(
        output_dir=str(folder),
        max_steps=config.steps,
        per_device_train_batch_size=config.micro_batch_size,
        generation_batch_size=episodes,
        gradient_accumulation_steps=episodes // config.micro_batch_size,
        num_generations=config.group_size,
        learning_rate=config.learning_rate,
        temperature=config.temperature,
        shuffle_dataset=False,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        **trl_objective(recipe),
    )
    trainer = Timed(
        model=load_model(recipe.model, training=True),
        args=arguments,
        reward_funcs=[reward],
        train_dataset=Dataset.from_list(rows),
        processing_class=hf_tokenizer,
        callbacks=[Steps()],
    )
    trainer.train()
    return steps


def measure(engine: str, overrides: Sequence[str]) -> list[dict[str, float]]:
    import torch

    torch.set_num_threads(1)
    changes = [*overrides, f"grpo.engine={'trl' if engine == 'own' else engine}"]
    with tempfile.TemporaryDirectory(prefix="grpo-") as folder:
        return (own if engine == "own" else ours)(load_recipe(Path("mini/grpo"), changes), Path(folder) / "run")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--engine", choices=list(ENGINES), action="append")
    parser.add_argument("--model", default="bundled:tiny")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=8, help="pairs of a step")
    parser.add_argument("--group", type=int, default=8, help="episodes of a pair")
    parser.add_argument("--tokens", type=int, default=96, help="the longest episode")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    engines = options.engine or list(ENGINES)
    with tempfile.TemporaryDirectory(prefix="grpo-data-") as name:
        build = ["data.train=" + name, f"model={options.model}", "start=null", "episode.search=false"]
        sizes = [
            f"grpo.steps={options.steps}", f"grpo.pairs_per_step={options.pairs}", f"grpo.group_size={options.group}",
            f"grpo.micro_batch_size={options.pairs * options.group // 2}", f"save_every={options.steps}",
            f"episode.budget.response_tokens={options.tokens}",
        ]  # fmt: skip
        _build(Path(name), options.steps * options.pairs)
        found: dict[str, list[dict[str, float]]] = {engine: [] for engine in engines}
        for _ in range(options.repeats):
            for engine in engines:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh_process:
                    found[engine] += fresh_process.submit(measure, engine, [*build, *sizes]).result()[1:]
    rows: list[Row] = []
    for engine, steps in found.items():
        stages = {f"{stage}_s": median(step[stage] for step in steps) for stage in STAGES}
        spread = {"lowest_s": min(step["step"] for step in steps), "highest_s": max(step["step"] for step in steps)}
        per_token = {
            f"{stage}_s_per_1000_tokens": median(1000 * step[stage] / step["tokens"] for step in steps)
            for stage in ("generation", "step")
        }
        tokens = median(step["tokens"] for step in steps)
        rows.append({"loop": ENGINES[engine], **stages, **spread, "tokens": tokens, **per_token})
    write_rows(options.out, "grpo_step", rows, vars(options))
    draw_bars(options.out / "grpo_step.svg", {row["loop"]: row["step_s"] for row in rows}, x="seconds per step")


def _build(folder: Path, pairs: int) -> None:
    from data_builders.build import build

    build("mini", folder, variants=1, seed=0, limit=pairs)


if __name__ == "__main__":
    main()
