#!/usr/bin/env bash
# mlflow-skinny: a scorer cannot be called without pandas, which the package does not install.
# mlflow.genai is in the package, and defining a scorer works. Calling `run` imports pandas.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages mlflow-skinny==3.17.2
seen <<'PY'
from mlflow.genai.scorers import Scorer


class Length(Scorer):
    name: str = "length"

    def __call__(self, *, outputs):
        return len(outputs)


try:
    shown = repr(Length().run(outputs="Oslo"))
except ModuleNotFoundError as error:
    shown = str(error)
print(f"Length().run(outputs='Oslo'): {shown}")
raise SystemExit("pandas" not in shown)
PY
