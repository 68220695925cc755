#!/usr/bin/env bash
# Inspect: the clustered standard error of a single cluster is 0.
# `stderr(cluster=…)` is for samples that depend on each other. If all of them are questions about one document, nothing
# is known about other documents: one would expect NaN or an error. The scores of a cluster sum to 0 around the mean, so
# the formula gives 0, the certainty of an infinite sample.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages inspect-ai==0.3.285
seen <<'PY'
from inspect_ai.scorer import SampleScore, Score, stderr

scores = [SampleScore(score=Score(value=float(v)), sample_metadata={"document": "a"}) for v in (0, 1, 1, 0, 1)]
clustered, plain = float(stderr(cluster="document")(scores)), float(stderr()(scores))
print(f"standard error of five answers about one document: {clustered} by document, {plain:.3f} by answer")
raise SystemExit(clustered != 0.0 or abs(plain - 0.245) > 0.001)
PY
