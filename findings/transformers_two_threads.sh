#!/usr/bin/env bash
# transformers: after loads in several threads at a time, a model that is loaded alone lacks its tied weights.
# `lm_head.weight` is reported as missing and is random, also for models that are loaded later. One expects that loads of
# different objects are independent. It concerns servers and tests that load models in threads.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages transformers==5.10.4 torch==2.13.0
seen <<'PY'
import logging
from concurrent.futures import ThreadPoolExecutor

from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

logging.disable()
sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 64}
LlamaForCausalLM(LlamaConfig(**sizes, tie_word_embeddings=True)).save_pretrained("model")


def missing(_: int = 0) -> list[str]:
    _, report = AutoModelForCausalLM.from_pretrained("model", output_loading_info=True)
    return sorted(report["missing_keys"])


before = missing()
for _ in range(20):
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: missing(), range(24)))
    if after := missing():
        break
print(f"missing weights of one model, loaded alone: before {before}, after loads in threads {after}")
raise SystemExit((before, after) != ([], ["lm_head.weight"]))
PY
