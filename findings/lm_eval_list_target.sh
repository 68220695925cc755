#!/usr/bin/env bash
# lm-eval: a target that looks like a Python list matches no answer.
# A judge that answers "[1, 2]" where the target is "[1, 2]" is right, and exact_match should be 1. A target in brackets is
# evaluated as Python code first, so the answer is compared with the list of 1 and 2, and scores 0. A target "[A, B]" stays
# a text, so the same task works with letters.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages lm-eval==0.4.13
seen <<'PY'
import json

import lm_eval
from lm_eval.api.model import LM


class Echo(LM):
    def generate_until(self, requests, disable_tqdm=False):
        return [request.args[0] for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False): ...

    def loglikelihood_rolling(self, requests, disable_tqdm=False): ...


def exact_match(target: str) -> float:
    name = f"{len(target)}.jsonl"
    with open(name, "w") as file:
        file.write(json.dumps({"target": target}) + "\n")
    task = {
        "task": "echo", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": name}},
        "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{target}}", "doc_to_target": "{{target}}",
        "generation_kwargs": {"until": ["\n"]},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    return float(lm_eval.simple_evaluate(model=Echo(), tasks=[task])["results"]["echo"]["exact_match,none"])


letters, numbers = exact_match("[A, BC]"), exact_match("[1, 2]")
print(f"a model that repeats the target: exact_match {letters:g} for [A, BC], {numbers:g} for [1, 2]")
raise SystemExit((letters, numbers) != (1.0, 0.0))
PY
