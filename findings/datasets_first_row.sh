#!/usr/bin/env bash
# datasets: `Dataset.from_list` drops the keys that the first row lacks.
# A missing key of a later row becomes None, so one expects the same of the first row, or an error. The whole column is
# dropped without a word. The same rows in another order keep it, and so does the same list as a JSON Lines file.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages datasets==5.2.0
seen <<'PY'
from datasets import Dataset

rows = [{"prompt": "a"}, {"prompt": "b", "reference": "c"}]
first, other = Dataset.from_list(rows).column_names, Dataset.from_list(rows[::-1]).column_names
print(f"columns of two rows: {first}; of the same rows in reverse order: {other}")
raise SystemExit(first != ["prompt"] or other != ["prompt", "reference"])
PY
