#!/usr/bin/env bash
# Inspect: the text of several targets runs together.
# A sample may have several acceptable targets. `Target.text` looks like a readable text of all of them, and scorers that
# prompt a grader with it ask whether the answer equals a text that nobody wrote. One would expect a separator.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages inspect-ai==0.3.285
seen <<'PY'
from inspect_ai.scorer import Target

text = Target(["Oslo", "Kristiania"]).text
print("the text of the targets Oslo and Kristiania:", text)
raise SystemExit(text != "OsloKristiania")
PY
