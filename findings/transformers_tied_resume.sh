#!/usr/bin/env bash
# transformers: resuming a training warns of missing weights that are not missing.
# A model with tied embeddings saves one matrix for two names. `from_pretrained` knows this and is silent; the resume of
# the Trainer loads the same checkpoint with another function, which warns that `lm_head.weight` is missing. The weights
# are right.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages torch==2.13.0 transformers==5.10.4 accelerate==1.15.0
seen <<'PY'
import logging
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

notes = []


class Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        notes.append(record.getMessage())


logging.getLogger("transformers").addHandler(Notes())
config = LlamaConfig(
    vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, tie_word_embeddings=True
)
rows = [{"input_ids": torch.arange(8), "labels": torch.arange(8)}] * 4


def train(folder: str, steps: int, checkpoint: str | None) -> LlamaForCausalLM:
    options = TrainingArguments(
        folder, max_steps=steps, save_steps=1, per_device_train_batch_size=2, report_to=[], disable_tqdm=True, use_cpu=True
    )
    trainer = Trainer(LlamaForCausalLM(config), options, train_dataset=rows)
    trainer.train(resume_from_checkpoint=checkpoint)
    return trainer.model


with tempfile.TemporaryDirectory() as folder:
    train(folder, 1, None)
    notes.clear()
    LlamaForCausalLM.from_pretrained(f"{folder}/checkpoint-1")
    loaded = [note for note in notes if "missing" in note.lower()]
    notes.clear()
    model = train(folder, 2, f"{folder}/checkpoint-1")
    resumed = [note for note in notes if "missing" in note.lower()]
tied = model.lm_head.weight is model.model.embed_tokens.weight
print("from_pretrained:", loaded)
print("resume:", resumed, "| still tied:", tied)
assert not loaded
assert tied
assert any("lm_head.weight" in note for note in resumed)
print("A resume warns that lm_head.weight is missing, although the checkpoint holds it under the name of the embeddings.")
PY
