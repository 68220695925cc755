"""A packed row has the same loss as its separate examples; an attention that mixes them is refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from toy_model import toy_model
from transformers import AutoConfig

from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.trl.sft import Isolation, NoPacking, SharedBeginnings, attention, collator

LENGTHS = (9, 14, 5, 11)
BEGINNING = [600, 601, 602, 603, 604]
"""Of all examples but the third. In the first one, its last token has a label."""


def trainer(folder: Path, trained: Any, *, packing: bool) -> Any:
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    rows = []
    for number, length in enumerate(LENGTHS):
        ids = torch.randint(10, 500, (length,), generator=torch.Generator().manual_seed(number)).tolist()
        ids = ids if number == 2 else [*BEGINNING, *ids[len(BEGINNING) :]]
        rows.append({"input_ids": ids, "labels": [-100] * (length // 2) + ids[length // 2 :]})
    return SFTTrainer(
        model=trained,
        args=SFTConfig(
            output_dir=str(folder), use_cpu=True, bf16=False, max_length=None, report_to=[], padding_free=packing,
            per_device_train_batch_size=4, gradient_checkpointing=False, train_sampling_strategy="sequential",
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=load_tokenizer("bundled:tiny"),
    )  # fmt: skip


def test_a_packed_row_has_the_loss_and_gradient_of_its_examples(tmp_path: Path) -> None:
    gradients, losses, shapes = [], [], []
    for packing, shared in ((False, False), (True, False), (True, True)):
        trained = load_model(str(toy_model())).train()
        if packing:
            trained.set_attn_implementation(attention())
        run = trainer(tmp_path, trained, packing=packing)
        if shared:
            run.data_collator = SharedBeginnings(run.data_collator)
        batch = next(iter(run.get_train_dataloader()))
        shapes.append(tuple(batch["input_ids"].shape))
        loss = run.compute_loss(trained, batch)
        loss.backward()
        losses.append(float(loss))
        gradients.append(torch.cat([p.grad.flatten() for p in trained.parameters() if p.grad is not None]))
    # Two examples follow one with the same beginning, whose last token has a label in the first example.
    assert shapes == [(4, max(LENGTHS)), (1, sum(LENGTHS)), (1, sum(LENGTHS) - 3 - 5)]
    assert losses == pytest.approx(losses[:1] * 3, rel=1e-5)
    assert gradients[0].abs().max() > 1e-3
    for gradient in gradients[1:]:
        assert torch.allclose(gradients[0], gradient, atol=1e-6)


@pytest.mark.parametrize(
    ("examples", "kept"),
    [
        ([[5, 6, 7, 8], [5, 6, 7, 8]], [5, 6, 7, 8, 7, 8]),  # equal ones: the first label is that of the fourth token
        ([[5, 6, 7, 8], [5, 6, 7, 8, 9]], [5, 6, 7, 8, 7, 8, 9]),
        ([[5, 6, 9, 8], [5, 6, 7, 8], [4]], [4, 5, 6, 7, 8, 9, 8]),  # sorted
        ([[5, 6], [5, 6], [5]], [5, 6, 6]),  # without labels
    ],
)
def test_an_example_leaves_out_what_the_one_before_it_has(examples: list[list[int]], kept: list[int]) -> None:
    rows = [{"input_ids": ids, "labels": [-100, -100, -100, *ids[3:]][: len(ids)]} for ids in examples]

    def collate(examples: Any) -> dict[str, torch.Tensor]:
        names = ("input_ids", "labels")
        row = {name: torch.tensor([[token for one in examples for token in one[name]]]) for name in names}
        positions = [position for one in examples for position in range(len(one["input_ids"]))]
        return row | {"position_ids": torch.tensor([positions])}

    found = SharedBeginnings(collate)(rows)
    assert found["input_ids"][0].tolist() == kept
    starts = [0, *(found["position_ids"][0].diff() != 1).nonzero()[:, 0].add(1).tolist()]
    assert all(found["labels"][0, start] == -100 for start in starts)
    assert sum(found["labels"][0] != -100) == sum(max(0, len(ids) - 3) for ids in examples)


@pytest.mark.parametrize(
    ("kind", "implementation", "auxiliary", "shares"),
    [
        ("qwen3", attention(), False, True),
        ("qwen3", "eager", False, False),
        ("qwen3", attention(), True, False),  # a loss of experts counts every token
        ("qwen3_next", attention(), False, False),  # a state of linear attention
    ],
)
def test_only_plain_layers_and_losses_share_beginnings(
    kind: str, implementation: str, auxiliary: bool, shares: bool
) -> None:
    config = AutoConfig.for_model(kind, num_hidden_layers=4)
    config._attn_implementation = implementation
    trainer = SimpleNamespace(model=SimpleNamespace(config=config), aux_loss_enabled=auxiliary, data_collator=list)
    assert isinstance(collator(trainer), SharedBeginnings) == shares


def begin_training(model: Any, collate: Any) -> None:
    args = SimpleNamespace(bf16=False, device=torch.device("cpu"))
    Isolation(collate).on_train_begin(args, None, None, model=model)


def test_the_isolation_check_passes_for_separate_examples_and_fails_for_mixed_ones(tmp_path: Path) -> None:
    trained = load_model(str(toy_model())).train()
    collate = trainer(tmp_path, trained, packing=True).data_collator
    for implementation in (attention(), "sdpa", "eager"):
        trained.set_attn_implementation(implementation)
        begin_training(trained, collate)

    def mixed(examples: Any) -> Any:
        """The same row without position ids, so attention sees one long example."""
        batch = collate(examples)
        return {"input_ids": batch["input_ids"], "labels": batch["labels"]}

    with pytest.raises(
        NoPacking, match="the attention 'eager' of this model lets the examples of a row see each other"
    ):
        begin_training(trained, mixed)
