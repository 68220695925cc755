"""Maps a recipe's GRPO objective (Eq. 4 and its options) to TRL's GRPOConfig.

    recipe                    paper                                   TRL
    clip_high                 DAPO, clip-higher                       epsilon_high
    ratio: sequence           GSPO, Eq. 5 and 7                       importance_sampling_level
    loss: token-mean          DAPO, Eq. 8                             loss_type dapo
    loss: sequence-mean       GRPO (DeepSeekMath, Eq. 3), GSPO        loss_type grpo
    loss: constant            Dr.GRPO, section 3.2                    loss_type dr_grpo, over max_completion_length
    advantage_by_std: false   Dr.GRPO, section 3.2                    scale_rewards none
    kl                        low-variance KL in the loss (Eq. 4)     beta, without use_bias_correction_kl

By default TRL multiplies the KL term by the importance ratio, which changes its gradient even at ratio 1. The
low-variance KL of the paper and verl does not. `trl.grpo_trainer` adds verl's bound on the KL of a token.

`judge_r1.training.verl.objective` maps the same options to verl. Tests check both engines against one formula.
"""

from typing import Any, Literal

from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import DUAL_CLIP

_LOSS: dict[Literal["token-mean", "sequence-mean", "constant"], str] = {
    "token-mean": "dapo",
    "sequence-mean": "grpo",
    "constant": "dr_grpo",
}


def trl_objective(recipe: Recipe) -> dict[str, Any]:
    """Arguments of GRPOConfig. The constant of `loss: constant` is the longest episode of the budget."""
    grpo = recipe.grpo
    return {
        "epsilon": grpo.clip,
        "epsilon_high": grpo.clip_high,
        "delta": DUAL_CLIP if grpo.ratio == "token" else None,
        "importance_sampling_level": grpo.ratio,
        "loss_type": _LOSS[grpo.loss],
        "scale_rewards": "group" if grpo.advantage_by_std else "none",
        "beta": grpo.kl,
        "use_bias_correction_kl": False,
        "max_completion_length": recipe.episode.effective_budget.episode_tokens,
    }
