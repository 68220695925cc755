"""Promise 7: the drivers give one trajectory for the same sampled ids, and under recipes/parity.yaml TRL and verl make
the same update from the same episodes: in float32, advantages to 1e-5, gradients to 1e-4, moves of weights to 1e-3.

Both engines run whole: TRL's GRPOTrainer through `train_grpo`, verl's agent loop worker and actor worker in a process
of its own (parity_verl.py). What is fixed is what the policy samples (tapes.py).
"""

import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from factories import mini_pairs
from paths import RECIPES, REPO, SUPPORT
from recorded_tokens import Tape, TapeModel, Tapes, bare, group, prompts_of, wild, write_tapes

from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.records import Trajectory
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import eos_ids, load_tokenizer, resolve
from judge_r1.training.data.data_order import shuffled
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.grpo import TrlRollouts, train_grpo

if not find_spec("trl") or not find_spec("verl"):
    pytest.skip("TRL or verl is not installed: pip install 'judge-r1[verl]'", allow_module_level=True)

PARITY = RECIPES / "parity.yaml"
KINDS = (("mixed", "alike", "lost", "alone"), ("lost", "mixed", "alike", "mixed"))
"""The four groups of each step (`tapes.group`)."""
GRADIENT, UPDATE = 1e-4, 1e-3
"""How far the engines may be apart: of the clipped gradient, and of what the weights have moved. The second is looser
because Adam makes a whole step of a gradient that is no more than rounding (TRL pads prompts on the left and counts
positions from there, verl does not: the same rotary angles, rounded otherwise)."""


class Room:
    """A folder with pairs and the recipe, and the tapes of each step."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, mini_pairs(9)
        (folder / "data").mkdir()
        write_jsonl(folder / "data" / "cases.jsonl", self.data.cases.values())
        write_jsonl(folder / "data" / "pairs.jsonl", self.data.pairs)
        model = resolve("bundled:tiny")
        self.recipe = load_recipe(PARITY, [f"data.train={folder / 'data'}", f"model={model}"])
        self.tokenizer = SafeTokenizer(load_tokenizer(model))
        self.eos = eos_ids(model, self.tokenizer.hf)
        self.prompts = prompts_of(self.data, self.recipe.episode, self.tokenizer)

    def set(self, recipe: Recipe, steps: list[list[Tape]]) -> None:
        (self.folder / "recipe.yaml").write_text(dump_recipe(recipe))
        for step, tapes in enumerate(steps, 1):
            write_tapes(self.folder / f"step_{step}.json", tapes)

    def verl(self, *options: str) -> dict[str, Any]:
        """What verl makes of the tapes (parity_verl.py)."""
        done = subprocess.run(
            [sys.executable, str(SUPPORT / "parity_verl.py"), str(self.folder), *options],
            env={**os.environ, "PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
            capture_output=True,
            text=True,
            timeout=540,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        report: dict[str, Any] = json.loads((self.folder / "verl.json").read_text())
        return report


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def by_pair(played: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Results of episodes by pair, in the order of its tapes."""
    found: dict[str, list[Any]] = defaultdict(list)
    for pair_id, result in played:
        found[pair_id].append(result)
    return dict(found)


def test_one_tape_is_one_trajectory_in_every_driver(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluator's judge, TRL's rollout function and verl's agent loop, on 4 x 60 tapes of wild ids."""
    from judge_r1.benchmarks.lrbench import pair_benchmark
    from judge_r1.core.pair_set import PairSet
    from judge_r1.episode.reward import with_reward
    from judge_r1.judges.agentic import AgenticJudge
    from judge_r1.judges.base import JudgeBuild, run_all
    from judge_r1.models.base import Sampling

    size = 60
    recipe = room.recipe.model_copy(
        update={"grpo": room.recipe.grpo.model_copy(update={"group_size": size, "steps": 1, "micro_batch_size": 60})}
    )
    rng, pairs = Random(0), room.data.pairs[:4]
    eos = room.tokenizer.hf.eos_token_id
    tapes = [wild(pair, room.tokenizer, eos, rng) for pair in pairs for _ in range(size)]
    room.set(recipe, [tapes])
    asked = [pair for pair in pairs for _ in range(size)]

    monkeypatch.setattr(
        "judge_r1.models.engine.LocalModel",
        lambda *_, **__: TapeModel(Tapes(tapes, room.prompts), room.tokenizer.decode, room.eos),
    )
    data = PairSet(room.data.cases, pairs)
    making = JudgeBuild(recipe.model, texts=data.texts, sampling=Sampling(1.0), batch_size=len(asked))
    played = run_all(AgenticJudge(making, recipe.episode), pair_benchmark(data).requests(samples=size))
    judged = [with_reward(game.trajectory, pair) for game, pair in zip(played, asked, strict=True)]

    rollouts = TrlRollouts(recipe, room.data, RunFolder(room.folder / "run", recipe), room.tokenizer, room.eos, 0)
    columns = rollouts([pair.pair_id for pair in asked], _Trainer())
    lost = [t.infrastructure_failed for t in judged]
    for ids, mask, t, bad in zip(columns["completion_ids"], columns["env_mask"], judged, lost, strict=True):
        assert ids == (list(t.token_ids) or [t.prompt_ids[-1]])
        assert mask == ([0] * len(ids) if bad else list(t.loss_mask))
    assert columns["r"] == [None if bad else t.reward["r"] for t, bad in zip(judged, lost, strict=True) if t.reward]

    [step] = room.verl("--play")["steps"]
    agent_loop = by_pair([(row["pair_id"], Trajectory.model_validate(row["trajectory"])) for row in step["played"]])
    expected = by_pair(list(zip([pair.pair_id for pair in asked], judged, strict=True)))
    for pair_id, trajectories in expected.items():
        assert sorted(map(_key, agent_loop[pair_id])) == sorted(map(_key, trajectories))
    ends = {trajectory.ended for trajectory in judged}
    assert {"answer", "infrastructure_generation_error", "no_answer"} <= ends, "the tapes are not wild enough"
    assert max(t.searches for t in judged) > 1


def test_one_tape_is_one_direct_judgment_in_every_place(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The direct judge in lock-step, on the engine that is served, and over token ids, on 4 x 30 tapes of one turn."""
    from fake_judge_endpoint import JudgeServer

    from judge_r1.benchmarks.lrbench import pair_benchmark
    from judge_r1.core.pair_set import PairSet
    from judge_r1.judges.base import Judge, JudgeBuild, run_all
    from judge_r1.judges.direct import direct_config
    from judge_r1.judges.panel import make_judge, served_judge
    from judge_r1.models.base import Sampling
    from judge_r1.training.verl.sampling_params import generate_request

    size, tokens, model = 30, 90, room.recipe.model
    options = ["prompt_tokens=1000", f"budget.response_tokens={tokens}"]
    data = PairSet(room.data.cases, room.data.pairs[:4])
    making = JudgeBuild("", texts=data.texts, sampling=Sampling(1.0), batch_size=8, recipe=PARITY)
    prompts = prompts_of(data, direct_config(JudgeBuild(model, options, recipe=PARITY)), room.tokenizer)
    rng, eos = Random(0), room.tokenizer.hf.eos_token_id
    tapes = [bare(pair, room.tokenizer, eos, rng, tokens) for pair in data.pairs for _ in range(size)]
    monkeypatch.setattr(
        "judge_r1.models.engine.LocalModel",
        lambda model, decode, ends, **_: TapeModel(Tapes(tapes, prompts), decode, ends),
    )
    monkeypatch.setattr(
        "judge_r1.judges.runners.continuous.LocalModel",
        lambda model, decode, ends, **_: TapeModel(Tapes(tapes, prompts), decode, ends),
    )
    lock, remote = threading.Lock(), TapeModel(Tapes(tapes, prompts), room.tokenizer.decode, room.eos)

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        asked = {name: body[name] for name in ("max_tokens", "stop", "stop_token_ids")}
        with lock:
            ids = remote.read(generate_request(body["prompt"], asked), object())
        told = {"tokens": [f"token_id:{token}" for token in ids], "token_logprobs": [-0.5] * len(ids)}
        return 200, {"choices": [{"logprobs": told}]}

    def judgments(judge: Judge) -> dict[str, list[str]]:
        played = run_all(judge, pair_benchmark(data).requests(samples=size))
        said = [(g.request.item.item_id, f"{_key(g.trajectory)} {g.verdict} {g.confidence}") for g in played]
        return {pair_id: sorted(found) for pair_id, found in by_pair(said).items()}

    direct = f"direct:{','.join(options)}"
    expected = judgments(make_judge(f"{direct}@{model}", making))
    for ended in ("answer", "rejected_no_json", "turn_budget"):
        assert f'"ended":"{ended}"' in str(expected), "the tapes are not wild enough"
    assert judgments(served_judge(f"{direct}@{model}", making)) == expected
    with JudgeServer(answer) as server:
        assert judgments(make_judge(f"{direct},tokenizer={model}@vllm:{server.url}#toy", making)) == expected
        assert len(server.bodies) == len(tapes)


def _key(trajectory: Trajectory) -> str:
    return trajectory.model_dump_json()


class _Trainer:
    """What `Rollouts` asks of TRL's trainer."""

    model = None

    class accelerator:
        process_index = 0

        @staticmethod
        def unwrap_model(model: Any) -> Any:
            return model

    class state:
        global_step = 0


def test_both_engines_make_the_same_update(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps, so that in the second the policy is not the reference and the KL term has a gradient. Among the
    groups are one whose outcomes are all alike, one with a lost episode, and one of which one episode is left."""
    import torch
    from safetensors.torch import load_file

    from judge_r1.training.trl import kl_clamp

    recipe, eos = room.recipe, room.tokenizer.hf.eos_token_id
    count = recipe.grpo.pairs_per_step
    order = shuffled(len(room.data.pairs), recipe.grpo.steps * count, recipe.seed)
    steps = [
        [
            tape
            for kind, index in zip(kinds, order[count * step : count * (step + 1)], strict=True)
            for tape in group(room.data.pairs[index], room.tokenizer, eos, kind)
        ]
        for step, kinds in enumerate(KINDS)
    ]
    room.set(recipe, steps)

    seen: list[dict[str, list[float]]] = []
    weights: list[dict[str, torch.Tensor]] = []
    gradients: list[dict[str, torch.Tensor]] = []

    class Recording(kl_clamp.CappedKlTrainer):
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

    model = TapeModel(Tapes([tape for tapes in steps for tape in tapes], room.prompts), room.tokenizer.decode, room.eos)
    monkeypatch.setattr("judge_r1.models.engine.LocalModel", lambda *_, **__: model)
    monkeypatch.setattr(kl_clamp, "CappedKlTrainer", Recording)
    run = RunFolder(room.folder / "run", recipe)
    train_grpo(recipe, room.data, run)
    report = room.verl()

    for kinds, tapes, ours, theirs in zip(KINDS, steps, seen, report["steps"], strict=True):
        verl = by_pair(list(zip(theirs["uid"], theirs["advantages"], strict=True)))
        assert ours.keys() == verl.keys()
        for kind, tape in zip(kinds, tapes[:: recipe.grpo.group_size], strict=True):
            assert ours[tape.pair_id] == pytest.approx(verl[tape.pair_id], abs=1e-5)
            spread = max(map(abs, ours[tape.pair_id]))
            assert spread == 0 if kind in ("alike", "alone") else spread > 0.5
            if kind == "lost":
                assert ours[tape.pair_id][1] == 0

    before = load_file(Path(recipe.model) / "model.safetensors")
    for step, (ours, gradient) in enumerate(zip(weights, gradients, strict=True), 1):
        theirs = load_file(room.folder / f"verl_{step}.safetensors")
        assert apart({n: (g, theirs[f"gradient.{n}"]) for n, g in gradient.items()}) < GRADIENT
        assert norm([tensor - before[name] for name, tensor in ours.items()]) > 0.005
        moved = {n: (t - before[n], theirs[n] - before[n]) for n, t in ours.items()}
        assert apart(moved) < UPDATE
        assert apart({n: (t, theirs[n]) for n, t in ours.items()}) < 1e-6
    saved = load_file(run.model / "model.safetensors")
    assert all(torch.equal(saved[name], tensor) for name, tensor in weights[-1].items())


def norm(tensors: Iterable[Any]) -> float:
    return float(sum(float((tensor.double() ** 2).sum()) for tensor in tensors) ** 0.5)


def apart(pairs: Mapping[str, tuple[Any, Any]]) -> float:
    """How far two sets of tensors are apart, as a share of the first."""
    return norm(one - other for one, other in pairs.values()) / norm(one for one, _ in pairs.values())


class _Caught(Exception):
    """Carries the trainer that `train_grpo` was about to start."""


@pytest.mark.parametrize("calm", [True, False])
def test_both_losses_are_one_far_from_the_policy(calm: bool, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Value and gradient with ratios beyond every clip (the lower, the upper, the dual one) and a reference apart, as
    later updates on one batch have them: verl's `ppo_loss` and TRL's `_compute_loss`, configured by the recipe. Not
    `calm`: with tokens whose KL is over its cap, which have no gradient of it."""
    import torch
    import trl

    monkeypatch.setenv("VERL_PLATFORM", "cpu")  # as everywhere in these tests, should verl not be imported yet
    monkeypatch.setenv("VERL_USE_EXTERNAL_MODULES", "judge_r1.training.verl.cpu")
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.utils.losses import ppo_loss
    from verl_factories import compose, keys_of

    def caught(self: Any, *_: Any, **__: Any) -> None:
        raise _Caught(self)

    monkeypatch.setattr(trl.GRPOTrainer, "train", caught)
    with pytest.raises(_Caught) as stopped:
        train_grpo(room.recipe, room.data, RunFolder(room.folder / "run", room.recipe))
    trainer = stopped.value.args[0]

    random = torch.Generator().manual_seed(0)
    rows, length = room.recipe.grpo.micro_batch_size, 400
    old = -3 + torch.randn(rows, length, generator=random)
    start = old + 1.5 * torch.randn(rows, length, generator=random)  # ratios from 0.01 to 100
    reference = start + (0.5 if calm else 2.5) * torch.randn(rows, length, generator=random)
    advantages = torch.tensor([1.3, -0.4, 0.0, -2.0])
    mask = (torch.rand(rows, length, generator=random) < 0.7).long()
    mask[2] = 0
    tokens = int(mask.sum())

    one = start.clone().requires_grad_()
    monkeypatch.setattr(
        trl.GRPOTrainer, "_get_per_token_logps_and_entropies", lambda *_, **__: (one, torch.zeros_like(one), None)
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
    actor = omega_conf_to_dataclass(compose(keys_of(room.recipe, folder=room.folder)).actor_rollout_ref.actor)
    whole = torch.nested.nested_tensor_from_jagged
    offsets = torch.arange(rows + 1)
    data = TensorDict(
        {
            "prompts": whole(torch.ones(rows, dtype=torch.long), offsets),
            "responses": whole(ids.flatten(), offsets * length),
            "response_mask": mask,
            "old_log_probs": old,
            "ref_log_prob": reference,
            "advantages": advantages[:, None] * mask,
        },
        batch_size=rows,
    )
    tu.assign_non_tensor(data, dp_size=1, batch_num_tokens=tokens, global_batch_size=rows, max_response_len=length)
    # verl's log-probabilities are of prompt + response, each at the position before its id
    shifted = torch.cat([other, torch.zeros(rows, 1)], dim=1).flatten()
    verls, _ = ppo_loss(actor, {"log_probs": whole(shifted, offsets * (length + 1))}, data)
    verls.backward()

    apart = reference - start
    over = int(((apart.exp() - apart - 1 > 10) & mask.bool()).sum())
    assert (over == 0) == calm
    capped = room.recipe.grpo.kl * 10 * over / tokens  # what verl's value has and ours has not
    assert float(loss) + capped == pytest.approx(float(verls), rel=1e-4)
    assert one.grad is not None
    assert other.grad is not None
    assert torch.allclose(one.grad, other.grad, rtol=1e-4, atol=1e-8)
    ratio = (start - old).exp()
    cut = (one.grad.abs() < 1e-12) & mask.bool()
    assert not cut.all()
    assert float(ratio.max()) > 3 / 0.8 > 1.2 > 0.8 > float(ratio.min())
