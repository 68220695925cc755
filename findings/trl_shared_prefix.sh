#!/usr/bin/env bash
# TRL: without a prompt, the common beginning of two answers is the prompt, cut inside a word.
# Preference data may hold `chosen` and `rejected` alone. TRL takes what both begin with as the prompt. One expects it to
# end at a word, a token or a message. It ends at the first character that differs: the rest begins in the middle of a
# word, so its tokens are others than those that the model writes, and the shared words are not trained.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages trl==1.16.0 torch==2.13.0 transformers==5.10.4
seen <<'PY'
from trl.data_utils import maybe_extract_prompt

found = maybe_extract_prompt({"chosen": "He paid in apples", "rejected": "He paid in application forms"})
print(found)
raise SystemExit(found != {"prompt": "He paid in appl", "chosen": "es", "rejected": "ication forms"})
PY
