#!/usr/bin/env bash
# statsmodels: McNemar's test of two equal judges has p = 0 with exact=False, and p = 1 with exact=True.
# Two judges that agree on every item show no difference. One expects a p of 1 or NaN from both forms of the test. The
# form with the chi-square distribution divides by the number of items on which they differ, and its p is 0.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages statsmodels==0.15.0 scipy==1.17.1 numpy==2.4.6
seen <<'PY'
from statsmodels.stats.contingency_tables import mcnemar

table = [[8, 0], [0, 4]]
exact, asymptotic = (float(mcnemar(table, exact=exact).pvalue) for exact in (True, False))
print(f"two judges that agree on all 12 items: p = {exact} exact, p = {asymptotic} asymptotic")
raise SystemExit((exact, asymptotic) != (1.0, 0.0))
PY
