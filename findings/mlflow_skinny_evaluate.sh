#!/usr/bin/env bash
# mlflow-skinny: mlflow.genai.evaluate is there, and has no local store for its results.
# The package is for tracking without a server and its dependencies. One expects that results go to a local folder or
# file, as mlflow's do.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages mlflow-skinny==3.17.2 pandas==2.3.3
seen <<'PY'
import mlflow
from mlflow.genai import scorer


@scorer
def right(outputs: str) -> bool:
    return outputs == "4"


try:
    mlflow.genai.evaluate(data=[{"inputs": {"question": "2 + 2?"}, "outputs": "4"}], scorers=[right])
    found = "it ran"
except Exception as error:
    found = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
print(found)
raise SystemExit(found == "it ran")
PY
