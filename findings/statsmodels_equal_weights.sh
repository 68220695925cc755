#!/usr/bin/env bash
# statsmodels: DescrStatsW with a weight of 2 for each of six values has the interval of twelve values.
# Weights of a survey or of classes are relative, so one expects equal weights to change nothing. DescrStatsW counts a
# value of weight 2 twice: the interval is narrower, and weights that sum to 1 make it wide or undefined.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages statsmodels==0.15.0 scipy==1.17.1 numpy==2.4.6
seen <<'PY'
import numpy as np
from statsmodels.stats.weightstats import DescrStatsW

values = np.arange(6.0)
plain, twice, doubled = (
    tuple(round(float(end), 3) for end in DescrStatsW(own, weights=weights).tconfint_mean())
    for own, weights in ((values, None), (values, np.full(6, 2.0)), (np.repeat(values, 2), None))
)
print(f"weights of 1: {plain}, weights of 2: {twice}, each value twice: {doubled}")
raise SystemExit(plain == twice or twice != doubled)
PY
