#!/usr/bin/env bash
# verl: a prompt that is computed once for a group loses what a tool returned.
# `verl.trainer.ppo.prefix_grouper_utils` joins the responses of a group behind one copy of their prompt. One expects
# each response to be read as it was sampled. It keeps only the tokens in the loss (`response_mask`): the tokens after a
# tool call are scored without the tool's result before them. The first prompt stands for all of a group, too.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages verl==0.9.1 torch==2.13.0 prefix-grouper==0.0.1.post1
seen <<'PY'
import torch
from verl.trainer.ppo.prefix_grouper_utils import build_pg_from_micro_batch

prompts = torch.tensor([[11, 12], [13, 14], [15, 16]])
responses = torch.tensor([[31, 41, 42, 32], [33, 34, 0, 0], [35, 0, 0, 0]])
in_loss = torch.tensor([[1, 0, 0, 1], [1, 1, 0, 0], [1, 0, 0, 0]])  # a tool returned 41 and 42
batch = {"prompts": prompts, "responses": responses, "response_mask": in_loss, "uid": ["a", "a", "b"]}
read = [[token for token in row if token] for row in build_pg_from_micro_batch(batch, pad_token_id=0)[1].tolist()]
print("prompts 11 12 and 13 14 of a group, answers 31 [41 42] 32 and 33 34: the model reads", *read[0])
raise SystemExit(read != [[11, 12, 31, 32, 33, 34], [15, 16, 35]])
PY
