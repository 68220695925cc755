#!/usr/bin/env bash
# transformers: the rows of a hybrid model's cache can be reordered, but neither selected nor repeated.
# A batch that loses finished rows selects the others in the cache: `batch_select_indices`. `DynamicCache` offers it for
# every model, and `reorder_cache`, which does the same with as many rows, works for layers of linear attention. One
# expects the selection to work too, or to be refused with a reason. It raises an AttributeError, after it has changed
# the layers before the first of linear attention.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages torch==2.13.0 transformers==5.10.4
seen <<'PY'
import torch
from transformers import DynamicCache, Qwen3NextConfig, Qwen3NextForCausalLM

config = Qwen3NextConfig(
    vocab_size=50, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, head_dim=16, linear_num_value_heads=2, linear_num_key_heads=2, linear_key_head_dim=8,
    linear_value_head_dim=8, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=16,
    shared_expert_intermediate_size=16, layer_types=["full_attention", "linear_attention"],
)  # fmt: skip
model, cache = Qwen3NextForCausalLM(config).eval(), DynamicCache(config=config)
with torch.no_grad():
    model(torch.ones(3, 4, dtype=torch.long), past_key_values=cache)
cache.reorder_cache(torch.tensor([2, 1, 0]))
print("reordered")
found = {}
for name, argument in (("batch_select_indices", torch.tensor([0, 2])), ("batch_repeat_interleave", 2)):
    try:
        getattr(cache, name)(argument)
        found[name] = "done"
    except AttributeError as error:
        found[name] = str(error)
print(found, "rows of the attention layer:", len(cache.layers[0].keys))
wanted = {name: f"'LinearAttentionLayer' object has no attribute '{name}'" for name in found}
raise SystemExit(found != wanted or len(cache.layers[0].keys) != 4)
PY
