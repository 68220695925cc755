#!/usr/bin/env bash
# Inspect: messages_df and events_df raise KeyError for a valid log whose samples have no events.
# Logs that other programs write, and logs that were made smaller, have samples with scores and no events. One expects an
# empty frame, as samples_df gives its rows.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages inspect-ai==0.3.285 pandas==2.3.3 pyarrow==21.0.0
seen <<'PY'
from inspect_ai.analysis import events_df, messages_df, samples_df
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.scorer import Score

sample = EvalSample(id=1, epoch=1, input="2 + 2?", target="4", scores={"grader": Score(value=1)})
spec = EvalSpec(
    created="2026-01-01T00:00:00+00:00", task="sums", dataset=EvalDataset(samples=1), model="mockllm/model",
    config=EvalConfig(),
)
write_eval_log(EvalLog(eval=spec, samples=[sample], status="success"), "one.eval")
found = []
for frame in (samples_df, messages_df, events_df):
    try:
        found.append(f"{frame.__name__}: {len(frame('one.eval'))} rows")
    except KeyError:
        found.append(f"{frame.__name__}: KeyError")
print("; ".join(found))
raise SystemExit(found != ["samples_df: 1 rows", "messages_df: KeyError", "events_df: KeyError"])
PY
