#!/usr/bin/env bash
# Inspect: a .json log that is written again in the same process is read as it was before.
# A program that corrects a log and reads it back gets the old scores. Logs in .eval do not have this.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages inspect-ai==0.3.285
seen <<'PY'
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, read_eval_log, read_eval_log_sample
from inspect_ai.log import write_eval_log
from inspect_ai.scorer import Score

spec = EvalSpec(
    created="2026-01-01T00:00:00+00:00", task="sums", dataset=EvalDataset(samples=1), model="mockllm/model",
    config=EvalConfig(),
)


def written(file: str, value: int) -> None:
    sample = EvalSample(id=1, epoch=1, input="2 + 2?", target="4", scores={"grader": Score(value=value)})
    write_eval_log(EvalLog(eval=spec, samples=[sample], status="success"), file)


found = {}
for kind in ("json", "eval"):
    written(f"log.{kind}", 0)
    first = read_eval_log_sample(f"log.{kind}", id=1).scores["grader"].value
    written(f"log.{kind}", 1)
    again = read_eval_log_sample(f"log.{kind}", id=1).scores["grader"].value
    whole = read_eval_log(f"log.{kind}").samples[0].scores["grader"].value
    found[kind] = (first, again, whole)
print("score before, after by read_eval_log_sample, after by read_eval_log:", found)
raise SystemExit(found["json"][1] != 0 or found["eval"][1] != 1)
PY
