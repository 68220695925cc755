"""DPO with TRL: right over wrong principles of a flawed reasoning (Table 7), gold over wrong judgments, or reference
over flawed reasonings. With the form `scalar`, TRL's RewardTrainer learns to score the reference higher.

The trainer gets token ids, so it applies no chat template and truncates nothing. The reference model is the model that
the run starts from; with LoRA, the model without its adapters.
"""

from typing import Any

from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import context_length, load_model, load_tokenizer, resolve
from judge_r1.models.pretrained import new_classifier
from judge_r1.training.data.single_turn_data import preference_rows
from judge_r1.training.data.training_pairs import dev_pairs
from judge_r1.training.lora import adapter_config
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.common import dev_examples, let_cpus_train, ordered, save_model, supervised_arguments


def train_dpo(recipe: Recipe, data: PairSet, run: RunFolder) -> None:
    """Train `recipe.model` on the preferences and write `run.model`, resuming from the last checkpoint."""
    import torch
    from trl import DPOConfig, DPOTrainer, RewardConfig, RewardTrainer

    from judge_r1.models.cpu.training import drop_masks_of_right_padding
    from judge_r1.training.trl.dev_evaluation import loss_evaluation
    from judge_r1.training.trl.resume import resume

    class OwnIds(DPOTrainer):  # type: ignore[misc]
        """TRL's trainer without its preprocessing: the rows hold token ids."""

        def _prepare_dataset(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
            return dataset

    tokenizer = load_tokenizer(recipe.model)
    settings = supervised_arguments(recipe, recipe.dpo, run)
    args = DPOConfig(beta=recipe.dpo.beta, **settings) if recipe.prefers else RewardConfig(**settings)
    let_cpus_train(args)
    safe, context = SafeTokenizer(tokenizer), context_length(recipe.model)

    def rows(pairs: PairSet) -> list[dict[str, Any]]:
        return list(preference_rows(pairs, recipe, safe, tokenizer.eos_token_id, context))

    dev = dev_pairs(recipe, data)
    callbacks, set_trainer = loss_evaluation(run, recipe)
    torch.manual_seed(recipe.seed)  # draws the head of a new classifier
    model = load_model(recipe.model, training=True) if recipe.prefers else new_classifier(resolve(recipe.model))
    trainer = (OwnIds if recipe.prefers else RewardTrainer)(
        model=model,
        args=args,
        train_dataset=ordered(args, recipe, recipe.dpo, run, lambda: rows(data)),
        eval_dataset=dev_examples(args, run, None if dev is None else lambda: rows(dev)),
        processing_class=tokenizer,
        peft_config=adapter_config(recipe.lora),
        callbacks=callbacks,
    )
    if recipe.prefers and trainer.ref_model is not None:  # TRL loads it itself
        drop_masks_of_right_padding(trainer.accelerator.unwrap_model(trainer.ref_model))
    set_trainer(trainer)
    resume(trainer, run)
    save_model(trainer, run, recipe)
