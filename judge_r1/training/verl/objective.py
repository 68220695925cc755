"""Maps a recipe's GRPO objective to verl's keys. `judge_r1.training.trl.objective` has the table and TRL's keys."""

from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import DUAL_CLIP

Value = str | int | float | bool | list[str]
_LOSS = {"token-mean": "token-mean", "sequence-mean": "seq-mean-token-mean", "constant": "seq-mean-token-sum-norm"}


def objective(recipe: Recipe) -> dict[str, Value]:
    """Advantage, ratio, clipping, aggregation and KL. The constant of `loss: constant` is the longest episode of the
    budget, as in TRL."""
    grpo, actor = recipe.grpo, "actor_rollout_ref.actor"
    keys: dict[str, Value] = {
        "algorithm.adv_estimator": "judge_r1_grpo",
        "algorithm.norm_adv_by_std_in_grpo": grpo.advantage_by_std,
        "algorithm.use_kl_in_reward": False,
        f"{actor}.policy_loss.loss_mode": "gspo" if grpo.ratio == "sequence" else "vanilla",
        f"{actor}.clip_ratio": grpo.clip,
        f"{actor}.clip_ratio_low": grpo.clip,
        f"{actor}.clip_ratio_high": grpo.clip if grpo.clip_high is None else grpo.clip_high,
        f"{actor}.clip_ratio_c": DUAL_CLIP,
        f"{actor}.loss_agg_mode": _LOSS[grpo.loss],
        f"{actor}.use_kl_loss": grpo.kl > 0,
        f"{actor}.kl_loss_coef": grpo.kl,
        f"{actor}.kl_loss_type": "low_var_kl",
    }
    if grpo.loss == "constant":
        keys[f"{actor}.loss_scale_factor"] = recipe.episode.effective_budget.episode_tokens
    return keys | _lora(recipe)


def _lora(recipe: Recipe) -> dict[str, Value]:
    """verl trains adapters and sends merged weights to the rollout server, which then needs no LoRA support."""
    if recipe.lora is None:
        return {}
    model = "actor_rollout_ref.model"
    return {
        f"{model}.lora_rank": recipe.lora.rank,
        f"{model}.lora_alpha": recipe.lora.alpha,
        f"{model}.target_modules": "all-linear",
        f"{model}.lora.merge": True,
    }
