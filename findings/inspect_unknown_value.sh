#!/usr/bin/env bash
# Inspect: a score that is no known word is a zero, and counts as scored.
# A scorer may return any string. `accuracy` knows C, P, I, N, yes, no, true, false and numbers. A verdict such as "A>B"
# is not a failure of the model, so one would expect an error, or an unscored sample. It lowers the accuracy instead; a
# warning in the log is the only sign.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages inspect-ai==0.3.285
seen <<'PY'
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, scorer

VALUES = {"one": "C", "two": "A>B"}


@scorer(metrics=[accuracy()])
def verdict():
    async def score(state, target):
        return Score(value=VALUES[target.text])

    return score


outputs = [ModelOutput.from_content("mockllm/model", "x") for _ in VALUES]
for output in outputs:
    output.usage = ModelUsage()
task = Task(dataset=[Sample(input="q", target=name) for name in VALUES], scorer=verdict())
[log] = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), display="none", log_dir="logs")
[found] = log.results.scores
rate = found.metrics["accuracy"].value
print(f"C and A>B: accuracy {rate}, {found.scored_samples} scored, {found.unscored_samples} unscored, {log.status}")
raise SystemExit((rate, found.scored_samples, found.unscored_samples, log.status) != (0.5, 2, 0, "success"))
PY
