"""Promise 7: all drivers give the same trajectory for the same sampled ids. Under recipes/parity.yaml, TRL and verl
make the same update from the same episodes: in float32, advantages to 1e-5, gradients to 1e-4, weight updates to 1e-3.

Both engines run completely: TRL's GRPOTrainer through `train_grpo`, verl's agent loop worker and actor worker in a
separate process (parity_verl.py). Only the ids that the policy samples are fixed (recorded_tokens.py).
"""

import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from factories import mini_pairs, mini_variants
from paths import RECIPES, REPO, SUPPORT
from recorded_tokens import (
    RecordedEpisode,
    Recordings,
    ReplayModel,
    answers,
    bare,
    group,
    prompts_of,
    wild,
    write_recordings,
)

from judge_r1.core.records import Trajectory
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.questions import question
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import eos_ids, load_tokenizer, resolve
from judge_r1.training.data.training_pairs import pair_order, question_rows
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import GrpoConfig
from judge_r1.training.trl.grpo import TrlRollouts, train_grpo

if not find_spec("trl") or not find_spec("verl"):
    pytest.skip("TRL or verl is not installed: pip install 'judge-r1[verl]'", allow_module_level=True)

PARITY = RECIPES / "parity.yaml"
KINDS = (("mixed", "identical", "failed", "one_left"), ("failed", "mixed", "identical", "mixed"))
"""The four groups of each step (`recorded_tokens.group`)."""
GRADIENT, UPDATE = 1e-4, 1e-3
"""Relative tolerances of the clipped gradient and of the weight update. The second is looser because Adam turns a
gradient that is only a rounding error into a full step (TRL pads prompts on the left and counts positions from there,
verl does not, so rotary angles round differently)."""


class ParityFixture:
    """A folder with pairs, the recipe and the recorded episodes of each step."""

    def __init__(self, folder: Path, data: PairSet | None = None) -> None:
        self.folder, self.data = folder, data or mini_pairs(9)
        (folder / "data").mkdir()
        write_jsonl(folder / "data" / "cases.jsonl", self.data.cases.values())
        write_jsonl(folder / "data" / "pairs.jsonl", self.data.pairs)
        model = resolve("bundled:tiny")
        self.recipe = load_recipe(PARITY, [f"data.train={folder / 'data'}", f"model={model}"])
        self.tokenizer = SafeTokenizer(load_tokenizer(model))
        self.eos = eos_ids(model, self.tokenizer.hf)
        self.prompts = prompts_of(self.data, self.recipe.episode, self.tokenizer)

    def write(self, recipe: Recipe, steps: list[list[RecordedEpisode]]) -> None:
        self.recorded = steps
        (self.folder / "recipe.yaml").write_text(dump_recipe(recipe))
        for step, episodes in enumerate(steps, 1):
            write_recordings(self.folder / f"step_{step}.json", episodes)

    @property
    def verl(self) -> dict[str, Any]:
        """The report of verl on the recorded episodes."""
        report: dict[str, Any] = json.loads((self.folder / "verl.json").read_text())
        return report


@pytest.fixture
def parity(tmp_path: Path) -> ParityFixture:
    return ParityFixture(tmp_path)


TASKS: dict[str, list[str]] = {
    "both orders": ["orders=2"],
    "one alone": ["task=pointwise"],
    "one alone, all pairs": ["task=pointwise", "pointwise_pairs=all"],
    "a list": ["task=listwise", "orders=2"],
    "R1 and R2 apart": ["task=pointwise", "advantage=decoupled"],
}
"""Other questions about the pairs: options of grpo."""
ROLLOUTS = 60
"""Episodes of each pair in the comparison of drivers."""


def other_task(folder: Path, options: Sequence[str]) -> ParityFixture:
    """One step of four pairs or lists, whose groups have right, wrong, invalid and lost episodes."""
    # The references of two pairs of one case have the same prompt, by which recordings are found.
    found = ParityFixture(folder, mini_variants(6, 3) if "task=listwise" in options else None)
    grpo = GrpoConfig.model_validate(
        found.recipe.grpo.model_dump() | {"steps": 1} | dict(option.split("=") for option in options)
        | {"orders": 2 if "orders=2" in options else 1}
    )  # fmt: skip
    found.recipe = found.recipe.model_copy(update={"grpo": grpo})
    keys, size = question_rows(found.recipe, found.data), grpo.group_size
    asked = [
        question(key, found.data.by_id(), number, size, orders=grpo.orders, seed=found.recipe.seed)
        for key in keys
        for number in range(size)
    ]
    found.prompts = prompts_of(found.data, found.recipe.episode, found.tokenizer, asked)
    eos = found.tokenizer.hf.eos_token_id
    episodes = [answers(one, found.data, found.tokenizer, eos, number) for number, one in enumerate(asked)]
    found.write(found.recipe, [episodes])
    (folder / "rollouts_only").touch()
    return found


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ParityFixture]:
    return {name: other_task(tmp_path_factory.mktemp("task"), options) for name, options in TASKS.items()}


@pytest.fixture(scope="module")
def compared(
    tmp_path_factory: pytest.TempPathFactory, tasks: dict[str, ParityFixture]
) -> tuple[ParityFixture, ParityFixture]:
    """4 x 60 episodes of random ids, and two steps of four groups. verl has run on both (parity_verl.py), and on the
    other tasks."""
    rollouts, updates = (ParityFixture(tmp_path_factory.mktemp(name)) for name in ("rollouts", "updates"))
    eos, rng = rollouts.tokenizer.hf.eos_token_id, Random(0)
    changes = {"group_size": ROLLOUTS, "steps": 1, "micro_batch_size": 60}
    rollouts.recipe = rollouts.recipe.model_copy(update={"grpo": rollouts.recipe.grpo.model_copy(update=changes)})
    episodes = [wild(pair, rollouts.tokenizer, eos, rng) for pair in rollouts.data.pairs[:4] for _ in range(ROLLOUTS)]
    rollouts.write(rollouts.recipe, [episodes])
    (rollouts.folder / "rollouts_only").touch()

    recipe, count = updates.recipe, updates.recipe.grpo.pairs_per_step
    order = pair_order(updates.data, recipe.grpo.steps * count, recipe.seed)
    updates.write(
        recipe,
        [
            [
                episode
                for kind, index in zip(kinds, order[count * step : count * (step + 1)], strict=True)
                for episode in group(updates.data.pairs[index], updates.tokenizer, eos, kind)
            ]
            for step, kinds in enumerate(KINDS)
        ],
    )
    run_verl(rollouts.folder, updates.folder, *(task.folder for task in tasks.values()))
    return rollouts, updates


def run_verl(*folders: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "parity_verl.py"), *map(str, folders)],
        env={**os.environ, "PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def write_tool_calls(parity: ParityFixture) -> None:
    """One step of groups whose episodes call `calc`, `open`, an unknown tool, and tools past their calls."""
    episode = EpisodeConfig.model_validate(
        parity.recipe.episode.model_dump() | {"tools": {"calc": {"output_tokens": 96}, "open": {"output_tokens": 96}}}
    )
    grpo = parity.recipe.grpo.model_copy(update={"steps": 1})
    parity.recipe = parity.recipe.model_copy(update={"episode": episode, "grpo": grpo})
    parity.prompts = prompts_of(parity.data, episode, parity.tokenizer)
    calc, wrong = "<think>é</think><tool>calc\n34 + 1</tool>", "<tool>calc\n1 / 0</tool><tool>calk\n1</tool>"
    episodes = []
    for index in pair_order(parity.data, grpo.pairs_per_step, parity.recipe.seed):
        pair = parity.data.pairs[index]
        right, other = ("A>B", "A<B") if pair.preferred == "A" else ("A<B", "A>B")
        answer = '<answer>{"comparison": "%s", "violated_principles": [2]}</answer>'
        for text in (
            calc + answer % right,
            "<search>ana paid</search><tool>open\n1</tool>" + answer % other,
            wrong + calc + answer % right,
            calc * 6 + "<tool>open\n9</tool>" + answer % other,
        ):
            episodes.append(RecordedEpisode(pair.pair_id, tuple(parity.tokenizer.encode_trusted(text))))
    parity.write(parity.recipe, [episodes])


def by_pair(results: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Results of episodes by pair id, in the given order."""
    grouped: dict[str, list[Any]] = defaultdict(list)
    for pair_id, result in results:
        grouped[pair_id].append(result)
    return dict(grouped)


def test_every_driver_gives_the_same_trajectory(
    compared: tuple[ParityFixture, ParityFixture], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluator's judge, TRL's rollout function and verl's agent loop, on 4 x 60 episodes of random ids."""
    from judge_r1.benchmarks.lrbench import pair_benchmark
    from judge_r1.episode.reward import with_reward
    from judge_r1.judges.agentic import AgenticJudge
    from judge_r1.judges.base import JudgeBuild, run_all
    from judge_r1.models.base import Sampling

    parity, recipe, pairs = compared[0], compared[0].recipe, compared[0].data.pairs[:4]
    [episodes] = parity.recorded
    requested = [pair for pair in pairs for _ in range(ROLLOUTS)]

    monkeypatch.setattr(
        "judge_r1.models.engine.LocalModel",
        lambda *_, **__: ReplayModel(Recordings(episodes, parity.prompts), parity.tokenizer.decode, parity.eos),
    )
    data = PairSet(parity.data.cases, pairs)
    build = JudgeBuild(recipe.model, texts=data.texts, sampling=Sampling(1.0), batch_size=len(requested))
    outputs = run_all(AgenticJudge(build, recipe.episode), pair_benchmark(data).requests(samples=ROLLOUTS))
    judged = [with_reward(output.trajectory, pair) for output, pair in zip(outputs, requested, strict=True)]

    rollouts = TrlRollouts(recipe, parity.data, RunFolder(parity.folder / "run", recipe))
    columns = rollouts([pair.pair_id for pair in requested], _Trainer())
    failed = [t.infrastructure_failed for t in judged]
    for ids, mask, t, bad in zip(columns["completion_ids"], columns["env_mask"], judged, failed, strict=True):
        assert ids == (list(t.token_ids) or [t.prompt_ids[-1]])
        assert mask == ([0] * len(ids) if bad else list(t.loss_mask))
    assert columns["r"] == [None if bad else t.reward["r"] for t, bad in zip(judged, failed, strict=True) if t.reward]

    [step] = parity.verl["steps"]
    agent_loop = by_pair(
        [(row["pair_id"], Trajectory.model_validate(row["trajectory"])) for row in step["trajectories"]]
    )
    expected = by_pair(list(zip([pair.pair_id for pair in requested], judged, strict=True)))
    for pair_id, trajectories in expected.items():
        assert sorted(map(_key, agent_loop[pair_id])) == sorted(map(_key, trajectories))
    endings = {trajectory.ended for trajectory in judged}
    assert {"answer", "infrastructure_generation_error", "no_answer"} <= endings, (
        "the recorded episodes do not cover every ending"
    )
    assert max(t.searches for t in judged) > 1


class _Scored(Exception):
    """Carries the advantages of the first batch."""


@pytest.mark.parametrize("name", TASKS)
def test_both_engines_ask_the_same_other_questions(
    name: str,
    compared: tuple[ParityFixture, ParityFixture],
    tasks: dict[str, ParityFixture],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ids, masks, rewards and advantages of both orders in a group, of reasonings scored alone, and of lists."""
    from judge_r1.training.trl import grpo, grpo_trainer

    found = tasks[name]
    recipe, [episodes], [step] = found.recipe, found.recorded, found.verl["steps"]
    replayed = Recordings(episodes, found.prompts)
    monkeypatch.setattr(
        "judge_r1.models.engine.LocalModel", lambda *_, **__: ReplayModel(replayed, found.tokenizer.decode, found.eos)
    )
    columns: dict[str, list[Any]] = {}

    class Recording(grpo_trainer.CappedKlTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            raise _Scored(super()._generate_and_score_completions(inputs)["advantages"].tolist())

    class Rollouts(TrlRollouts):
        def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
            columns.update(super().__call__(prompts, trainer))
            return columns

    monkeypatch.setattr(grpo_trainer, "CappedKlTrainer", Recording)
    monkeypatch.setattr(grpo, "TrlRollouts", Rollouts)
    with pytest.raises(_Scored) as scored:
        train_grpo(recipe, found.data, RunFolder(found.folder / "run", recipe))
    advantages = scored.value.args[0]

    verl = {(row["pair_id"], row["session"]): row["trajectory"] for row in step["trajectories"]}
    assert len(verl) == len(episodes)
    size, failed = recipe.grpo.group_size, 0
    for number, episode in enumerate(episodes):
        theirs = Trajectory.model_validate(verl[episode.key, number % size])
        failed += theirs.infrastructure_failed
        assert columns["prompt_ids"][number] == list(theirs.prompt_ids)
        assert columns["completion_ids"][number] == list(theirs.token_ids)
        mask = [0] * len(theirs.token_ids) if theirs.infrastructure_failed else list(theirs.loss_mask)
        assert columns["env_mask"][number] == mask == step["masks"][number]
        expected = None if theirs.infrastructure_failed else (theirs.reward or {})["r"]
        assert columns["r"][number] == expected
    assert failed
    assert advantages == pytest.approx(step["advantages"], abs=1e-5)
    assert len({round(value, 3) for value in advantages}) > 2


def test_every_driver_gives_the_same_direct_judgment(parity: ParityFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The direct judge in lock-step, on the served engine, and over token ids, on 4 x 30 single-turn episodes."""
    from fake_judge_endpoint import JudgeServer

    from judge_r1.benchmarks.lrbench import pair_benchmark
    from judge_r1.judges.base import Judge, JudgeBuild, run_all
    from judge_r1.judges.direct import direct_config
    from judge_r1.judges.panel import make_judge, served_judge
    from judge_r1.models.base import Sampling
    from judge_r1.training.verl.sampling_params import generate_request

    size, tokens, model = 30, 90, parity.recipe.model
    options = ["prompt_tokens=1000", f"budget.response_tokens={tokens}"]
    data = PairSet(parity.data.cases, parity.data.pairs[:4])
    build = JudgeBuild("", texts=data.texts, sampling=Sampling(1.0), batch_size=8, recipe=PARITY)
    prompts = prompts_of(data, direct_config(JudgeBuild(model, options, recipe=PARITY)), parity.tokenizer)
    rng, eos = Random(0), parity.tokenizer.hf.eos_token_id
    episodes = [bare(pair, parity.tokenizer, eos, rng, tokens) for pair in data.pairs for _ in range(size)]
    monkeypatch.setattr(
        "judge_r1.models.engine.LocalModel",
        lambda model, decode, ends, **_: ReplayModel(Recordings(episodes, prompts), decode, ends),
    )
    lock, remote = threading.Lock(), ReplayModel(Recordings(episodes, prompts), parity.tokenizer.decode, parity.eos)

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        sampling = {name: body[name] for name in ("max_tokens", "stop", "stop_token_ids")}
        with lock:
            ids = remote.read(generate_request(body["prompt"], sampling), object())
        logprobs = {"tokens": [f"token_id:{token}" for token in ids], "token_logprobs": [-0.5] * len(ids)}
        return 200, {"choices": [{"logprobs": logprobs}]}

    def judgments(judge: Judge) -> dict[str, list[str]]:
        outputs = run_all(judge, pair_benchmark(data).requests(samples=size))
        results = [(o.request.item.item_id, f"{_key(o.trajectory)} {o.verdict} {o.confidence}") for o in outputs]
        return {pair_id: sorted(texts) for pair_id, texts in by_pair(results).items()}

    direct = f"direct:{','.join(options)}"
    expected = judgments(make_judge(f"{direct}@{model}", build))
    for ended in ("answer", "rejected_no_json", "turn_budget"):
        assert f'"ended":"{ended}"' in str(expected), "the recorded episodes do not cover every ending"
    assert judgments(served_judge(f"{direct}@{model}", build)) == expected
    with JudgeServer(answer) as server:
        assert judgments(make_judge(f"{direct},tokenizer={model}@vllm:{server.url}#toy", build)) == expected
        assert len(server.bodies) == len(episodes)


def _key(trajectory: Trajectory) -> str:
    return trajectory.model_dump_json()


class _Trainer:
    """The attributes of TRL's trainer that `TrlRollouts` reads."""

    model = None

    class accelerator:
        process_index = 0

        @staticmethod
        def unwrap_model(model: Any) -> Any:
            return model

    class state:
        global_step = 0


def test_both_engines_make_the_same_update(
    compared: tuple[ParityFixture, ParityFixture], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps, so in the second one the policy differs from the reference and the KL term has a gradient. The groups
    include one of identical outcomes, one with a failed episode, and one with a single valid episode."""
    import torch
    from safetensors.torch import load_file

    from judge_r1.training.trl import grpo_trainer

    parity = compared[1]
    recipe, steps = parity.recipe, parity.recorded

    seen: list[dict[str, list[float]]] = []
    weights: list[dict[str, torch.Tensor]] = []
    gradients: list[dict[str, torch.Tensor]] = []

    class Recording(grpo_trainer.CappedKlTrainer):
        def create_optimizer(self, *args: Any) -> Any:
            optimizer = super().create_optimizer(*args)
            optimizer.register_step_pre_hook(
                lambda *_: gradients.append({n: p.grad.clone() for n, p in self.model.named_parameters()})
            )
            optimizer.register_step_post_hook(
                lambda *_: weights.append({n: p.detach().clone() for n, p in self.model.named_parameters()})
            )
            return optimizer

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            output = super()._generate_and_score_completions(inputs)
            seen.append(by_pair(list(zip([i["prompt"] for i in inputs], output["advantages"].tolist(), strict=True))))
            return output

    model = ReplayModel(
        Recordings([episode for step in steps for episode in step], parity.prompts), parity.tokenizer.decode, parity.eos
    )
    monkeypatch.setattr("judge_r1.models.engine.LocalModel", lambda *_, **__: model)
    monkeypatch.setattr(grpo_trainer, "CappedKlTrainer", Recording)
    run = RunFolder(parity.folder / "run", recipe)
    train_grpo(recipe, parity.data, run)
    report = parity.verl

    for kinds, episodes, ours, theirs in zip(KINDS, steps, seen, report["steps"], strict=True):
        verl = by_pair(list(zip(theirs["uid"], theirs["advantages"], strict=True)))
        assert ours.keys() == verl.keys()
        for kind, episode in zip(kinds, episodes[:: recipe.grpo.group_size], strict=True):
            assert ours[episode.pair_id] == pytest.approx(verl[episode.pair_id], abs=1e-5)
            spread = max(map(abs, ours[episode.pair_id]))
            assert spread == 0 if kind in ("identical", "one_left") else spread > 0.5
            if kind == "failed":
                assert ours[episode.pair_id][1] == 0

    before = load_file(Path(recipe.model) / "model.safetensors")
    for step, (ours, gradient) in enumerate(zip(weights, gradients, strict=True), 1):
        theirs = load_file(parity.folder / f"verl_{step}.safetensors")
        assert relative_difference({n: (g, theirs[f"gradient.{n}"]) for n, g in gradient.items()}) < GRADIENT
        assert norm([tensor - before[name] for name, tensor in ours.items()]) > 0.005
        updates = {n: (t - before[n], theirs[n] - before[n]) for n, t in ours.items()}
        assert relative_difference(updates) < UPDATE
        assert relative_difference({n: (t, theirs[n]) for n, t in ours.items()}) < 1e-6
    saved = load_file(run.model / "model.safetensors")
    assert all(torch.equal(saved[name], tensor) for name, tensor in weights[-1].items())


def test_both_engines_train_the_same_episodes_with_tools(
    parity: ParityFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids, masks, rewards and advantages of groups that call tools, in TRL's trainer and verl's."""
    from judge_r1.training.trl import grpo_trainer

    write_tool_calls(parity)
    run_verl(parity.folder)
    [episodes], [theirs] = parity.recorded, parity.verl["steps"]
    advantages: dict[str, list[float]] = {}

    class Recording(grpo_trainer.CappedKlTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            output = super()._generate_and_score_completions(inputs)
            found = zip([row["prompt"] for row in inputs], output["advantages"].tolist(), strict=True)
            advantages.update(by_pair(list(found)))
            return output

    model = ReplayModel(Recordings(episodes, parity.prompts), parity.tokenizer.decode, parity.eos)
    monkeypatch.setattr("judge_r1.models.engine.LocalModel", lambda *_, **__: model)
    monkeypatch.setattr(grpo_trainer, "CappedKlTrainer", Recording)
    seen: list[dict[str, list[Any]]] = []
    call = TrlRollouts.__call__
    monkeypatch.setattr(TrlRollouts, "__call__", lambda *given: seen.append(call(*given)) or seen[-1])
    train_grpo(parity.recipe, parity.data, RunFolder(parity.folder / "run", parity.recipe))

    [columns] = seen
    in_verl = by_pair(
        [(row["pair_id"], Trajectory.model_validate(row["trajectory"])) for row in theirs["trajectories"]]
    )
    mine = by_pair(
        [
            (episode.pair_id, (tuple(ids), tuple(mask), r))
            for episode, ids, mask, r in zip(
                episodes, columns["completion_ids"], columns["env_mask"], columns["r"], strict=True
            )
        ]
    )
    for pair_id, trajectories in in_verl.items():
        found = [(t.token_ids, t.loss_mask, (t.reward or {})["r"]) for t in trajectories]
        assert sorted(found) == sorted(mine[pair_id])
    verl = by_pair(list(zip(theirs["uid"], theirs["advantages"], strict=True)))
    assert advantages.keys() == verl.keys()
    for pair_id, values in advantages.items():
        assert values == pytest.approx(verl[pair_id], abs=1e-5)
        assert max(map(abs, values)) > 0.5

    calls = [call for trajectories in in_verl.values() for t in trajectories for call in t.calls]
    assert {call.status for call in calls} == {"ok", "error", "refused"}
    assert {call.name for call in calls} == {"calc", "open", "calk"}
    for trajectory in (t for trajectories in in_verl.values() for t in trajectories):
        # What the policy reads of tools has mask 0, and what it wrote has mask 1.
        observed = "".join(turn.observation or "" for turn in trajectory.turns)
        masked = [t for t, mask in zip(trajectory.token_ids, trajectory.loss_mask, strict=True) if not mask]
        # This tokenizer puts a space before each piece that it encodes.
        assert parity.tokenizer.decode(masked).replace(" ", "") == observed.replace(" ", "")
        sampled = [t for t, mask in zip(trajectory.token_ids, trajectory.loss_mask, strict=True) if mask]
        assert parity.tokenizer.decode(sampled) == "".join(turn.text for turn in trajectory.turns)


def norm(tensors: Iterable[Any]) -> float:
    return float(sum(float((tensor.double() ** 2).sum()) for tensor in tensors) ** 0.5)


def relative_difference(pairs: Mapping[str, tuple[Any, Any]]) -> float:
    """The norm of the difference of two sets of tensors, relative to the first."""
    return norm(one - other for one, other in pairs.values()) / norm(one for one, _ in pairs.values())


class _TrainerCaught(Exception):
    """Carries the trainer that `train_grpo` created."""


@pytest.mark.parametrize("kl_below_cap", [True, False])
def test_both_losses_agree_far_from_the_policy(
    kl_below_cap: bool, parity: ParityFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value and gradient of verl's `ppo_loss` and TRL's `_compute_loss`, configured by the recipe. Ratios exceed every
    clip (lower, upper, dual) and the reference differs, as in later updates on one batch. Without `kl_below_cap`, some
    tokens exceed the cap of the KL term, which gives them no gradient."""
    import torch
    import trl

    monkeypatch.setenv("VERL_PLATFORM", "cpu")  # read when verl is imported
    monkeypatch.setenv("VERL_USE_EXTERNAL_MODULES", "judge_r1.training.verl.cpu")
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.utils.losses import ppo_loss
    from verl_factories import compose, keys_of

    from judge_r1.training.trl.grpo_trainer import SharedPromptTrainer

    def catch_trainer(self: Any, *_: Any, **__: Any) -> None:
        raise _TrainerCaught(self)

    monkeypatch.setattr(trl.GRPOTrainer, "train", catch_trainer)
    with pytest.raises(_TrainerCaught) as stopped:
        train_grpo(parity.recipe, parity.data, RunFolder(parity.folder / "run", parity.recipe))
    trainer = stopped.value.args[0]

    random = torch.Generator().manual_seed(0)
    rows, length = parity.recipe.grpo.micro_batch_size, 400
    old = -3 + torch.randn(rows, length, generator=random)
    start = old + 1.5 * torch.randn(rows, length, generator=random)  # ratios from 0.01 to 100
    reference = start + (0.5 if kl_below_cap else 2.5) * torch.randn(rows, length, generator=random)
    advantages = torch.tensor([1.3, -0.4, 0.0, -2.0])
    mask = (torch.rand(rows, length, generator=random) < 0.7).long()
    mask[2] = 0
    tokens = int(mask.sum())

    one = start.clone().requires_grad_()
    monkeypatch.setattr(
        SharedPromptTrainer, "_get_per_token_logps_and_entropies", lambda *_, **__: (one, torch.zeros_like(one), None)
    )
    trainer.current_gradient_accumulation_steps = trainer.args.steps_per_generation
    ids = torch.ones(rows, length, dtype=torch.long)
    inputs = {
        "prompt_ids": ids[:, :2],
        "prompt_mask": ids[:, :2],
        "completion_ids": ids,
        "completion_mask": ids,
        "tool_mask": mask,
        "advantages": advantages,
        "old_per_token_logps": old,
        "ref_per_token_logps": reference,
        "num_items_in_batch": torch.tensor(tokens),
    }
    loss = trainer._compute_loss(trainer.model, inputs)
    loss.backward()

    other = start.clone().requires_grad_()
    actor = omega_conf_to_dataclass(compose(keys_of(parity.recipe, folder=parity.folder)).actor_rollout_ref.actor)
    jagged = torch.nested.nested_tensor_from_jagged
    offsets = torch.arange(rows + 1)
    data = TensorDict(
        {
            "prompts": jagged(torch.ones(rows, dtype=torch.long), offsets),
            "responses": jagged(ids.flatten(), offsets * length),
            "response_mask": mask,
            "old_log_probs": old,
            "ref_log_prob": reference,
            "advantages": advantages[:, None] * mask,
        },
        batch_size=rows,
    )
    tu.assign_non_tensor(data, dp_size=1, batch_num_tokens=tokens, global_batch_size=rows, max_response_len=length)
    # verl has log-probabilities for prompt and response, each at the position before its token
    shifted = torch.cat([other, torch.zeros(rows, 1)], dim=1).flatten()
    verls, _ = ppo_loss(actor, {"log_probs": jagged(shifted, offsets * (length + 1))}, data)
    verls.backward()

    log_ratio = reference - start
    over_cap = int(((log_ratio.exp() - log_ratio - 1 > 10) & mask.bool()).sum())
    assert (over_cap == 0) == kl_below_cap
    capped = parity.recipe.grpo.kl * 10 * over_cap / tokens  # verl's loss value includes the capped terms
    assert float(loss) + capped == pytest.approx(float(verls), rel=1e-4)
    assert one.grad is not None
    assert other.grad is not None
    assert torch.allclose(one.grad, other.grad, rtol=1e-4, atol=1e-8)
    ratio = (start - old).exp()
    clipped = (one.grad.abs() < 1e-12) & mask.bool()
    assert not clipped.all()
    assert float(ratio.max()) > 3 / 0.8 > 1.2 > 0.8 > float(ratio.min())
