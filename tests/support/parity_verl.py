"""The verl side of the parity test, as a subprocess: `python parity_verl.py FOLDER …`.

For each step N: replays the recorded episodes of FOLDER/step_N.json under verl's agent loop worker, computes
log-probabilities and advantages, and updates the actor with verl's worker (one rank, FSDP2, our CPU platform). Writes
FOLDER/verl.json (trajectories, advantages, gradient norms) and FOLDER/verl_N.safetensors (the weights after step N and
its clipped gradients). A folder with a file `rollouts_only` gets trajectories only.
"""

import asyncio
import json
import os
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ |= {
    "VERL_PLATFORM": "cpu",
    "VERL_USE_EXTERNAL_MODULES": "judge_r1.training.verl.cpu",
    "RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_RANK": "0",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",  # required but unused: the process group already exists, over a file
    "WG_BACKEND": "ray",
}
sys.path[:0] = [str(Path(__file__).parents[2])]


def main(folder: Path) -> None:
    import numpy as np
    import torch
    import torch.distributed as dist
    import yaml
    from omegaconf import open_dict
    from recorded_tokens import Recordings, ReplayServer, prompts_of, questions_of, read_recordings
    from safetensors.torch import save_file
    from verl import DataProto
    from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
    from verl.trainer.ppo.ray_trainer import compute_advantage
    from verl.trainer.ppo.reward import load_reward_manager
    from verl.utils import tensordict_utils as tu
    from verl.workers.engine_workers import ActorRolloutRefWorker
    from verl.workers.utils.padding import left_right_2_no_padding, no_padding_2_padding
    from verl_factories import compose, keys_of

    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.models.hub import eos_ids, load_tokenizer
    from judge_r1.training.recipe import load_recipe
    from judge_r1.training.verl import agent_loop
    from judge_r1.training.verl.rollout_log import RolloutLog

    numbers = count()
    agent_loop.routing_key = lambda *_: str(next(numbers))  # the recordings tell the episodes of a group apart by it

    if not dist.is_initialized():
        dist.init_process_group("gloo", init_method=f"file://{folder / 'gloo'}", rank=0, world_size=1)
        torch.set_num_threads(1)
    recipe = load_recipe(folder / "recipe.yaml")
    loop = {
        "name": "judge_r1",
        "_target_": "judge_r1.training.verl.agent_loop.JudgeAgentLoop",
        "recipe": str(folder / "recipe.yaml"),
        "data": str(recipe.data.train),
        "rollouts": str(folder / "rollouts"),
    }
    (folder / "agent_loops.yaml").write_text(yaml.safe_dump([loop]))
    config = compose(keys_of(recipe, folder=folder))
    with open_dict(config):
        config.actor_rollout_ref.actor.optim.total_training_steps = recipe.grpo.steps
    data, hf_tokenizer = load_pairs(recipe.data.train), load_tokenizer(recipe.model)
    tokenizer, eos = SafeTokenizer(hf_tokenizer), eos_ids(recipe.model, hf_tokenizer)
    grpo, seed = recipe.grpo, recipe.seed
    plain = grpo.task == "pairwise" and grpo.orders == 1
    prompts = prompts_of(data, recipe.episode, tokenizer, None if plain else questions_of(data, grpo, seed))
    trajectories: list[dict[str, Any]] = []
    write = RolloutLog.write

    def recorded(self: RolloutLog, step: int, session: int, pair: Any, trajectory: Any, **rest: Any) -> None:
        row = {"pair_id": pair.pair_id, "session": session, "trajectory": trajectory.model_dump(mode="json")}
        trajectories.append(row)
        write(self, step, session, pair, trajectory, **rest)

    RolloutLog.write = recorded  # type: ignore[method-assign]

    def roll_out(step: int) -> DataProto:
        episodes = read_recordings(folder / f"step_{step}.json")
        server = ReplayServer(Recordings(episodes, prompts), tokenizer, eos)
        rows = [
            {
                "raw_prompt": [],
                "agent_name": "judge_r1",
                "extra_info": {"index": index // grpo.group_size, "pair_id": episode.key},
                "session_id": index % grpo.group_size,
                "data_source": "judge_r1/parity",
                "reward_model": {"style": "rule", "ground_truth": ""},
                "uid": episode.key,
                "global_steps": step,
            }
            for index, episode in enumerate(episodes)
        ]
        columns = {name: np.fromiter((row[name] for row in rows), dtype=object, count=len(rows)) for name in rows[0]}

        async def generate() -> DataProto:
            manager = load_reward_manager(config, hf_tokenizer)
            rewards = SimpleNamespace(compute_score=SimpleNamespace(remote=manager.run_single))
            worker = AgentLoopWorker(config, server, reward_loop_worker_handles=[rewards])
            batch = DataProto.from_dict(tensors={"dummy": torch.zeros(len(rows), 1)}, non_tensors=columns)
            out: DataProto = await worker.generate_sequences(batch)
            out.non_tensor_batch["uid"] = columns["uid"]
            return out

        return asyncio.run(generate())

    def whole(tensor: Any) -> torch.Tensor:
        """Returns a full copy of a tensor, sharded by FSDP2 or not."""
        full: torch.Tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
        return full.detach().float().clone()

    def advantages(out: DataProto) -> list[float]:
        """Writes the advantages into the batch. Returns that of each episode."""
        compute_advantage(
            out,
            adv_estimator=config.algorithm.adv_estimator,
            norm_adv_by_std_in_grpo=config.algorithm.norm_adv_by_std_in_grpo,
            config=config.algorithm,
        )
        per_token = [
            row[mask.bool()] for row, mask in zip(out.batch["advantages"], out.batch["response_mask"], strict=True)
        ]
        return [float(row[0]) if len(row) else 0.0 for row in per_token]

    gradients: dict[str, torch.Tensor] = {}
    report: dict[str, Any] = {"steps": []}
    worker = None
    for step in range(1, recipe.grpo.steps + 1):
        trajectories.clear()
        out = roll_out(step)
        entry: dict[str, Any] = {"trajectories": list(trajectories), "uid": list(out.non_tensor_batch["uid"])}
        entry["scores"] = out.batch["rm_scores"].sum(-1).tolist()
        entry["masks"] = [
            row[: int(keep.sum())].tolist()
            for row, keep in zip(
                out.batch["response_mask"],
                out.batch["attention_mask"][:, -out.batch["responses"].shape[1] :],
                strict=True,
            )
        ]
        report["steps"].append(entry)
        if (folder / "rollouts_only").exists():
            out.batch["token_level_rewards"] = out.batch["rm_scores"]
            entry["advantages"] = advantages(out)
            continue
        if worker is None:
            worker = ActorRolloutRefWorker(config=config.actor_rollout_ref, role="actor_rollout_ref")
            worker.init_model()
            named = dict(worker.actor.engine.module.named_parameters())
            worker.actor.engine.optimizer.register_step_pre_hook(
                lambda *_, named=named: gradients.update({f"gradient.{n}": whole(p.grad) for n, p in named.items()})
            )
        temperature = recipe.grpo.temperature

        def log_probs(ask: Any, out: DataProto, temperature: float = temperature) -> torch.Tensor:
            batch = left_right_2_no_padding(out.to_tensordict())
            tu.assign_non_tensor(batch, calculate_entropy=False, compute_loss=False, temperature=temperature)
            return no_padding_2_padding(tu.get(ask(batch), "log_probs"), batch).float()

        out.batch["old_log_probs"] = log_probs(worker.compute_log_prob, out)
        out.batch["ref_log_prob"] = log_probs(worker.compute_ref_log_prob, out)
        out.batch["token_level_rewards"] = out.batch["rm_scores"]
        entry["advantages"] = advantages(out)
        batch = left_right_2_no_padding(out.to_tensordict())
        size = config.actor_rollout_ref.actor.ppo_mini_batch_size * config.actor_rollout_ref.rollout.n
        tu.assign_non_tensor(
            batch,
            calculate_entropy=False,
            global_batch_size=size,
            mini_batch_size=size,
            epochs=1,
            seed=0,
            dataloader_kwargs={"shuffle": False},
            temperature=temperature,
        )
        entry["metrics"] = {k: v for k, v in tu.get(worker.update_actor(batch), "metrics").items() if "norm" in k}
        weights = {name: whole(tensor) for name, tensor in worker.actor.engine.module.state_dict().items()}
        save_file(weights | gradients, folder / f"verl_{step}.safetensors")
    RolloutLog.write = write  # type: ignore[method-assign]
    (folder / "verl.json").write_text(json.dumps(report, default=float))


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        main(Path(folder))
