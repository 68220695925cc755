#!/usr/bin/env bash
# evalica: one player without a loss, and bradley_terry rates all players equally, at the tolerance.
# Bradley-Terry has no finite rating for a player who wins every game. One expects an error, a warning or a very large
# rating of that player. All scores are 1e-06 after two iterations, and nothing says so: a leaderboard with one clear
# winner has no order.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages evalica==0.4.2 numpy==2.4.6 pandas==3.1.1
seen <<'PY'
from evalica import Winner, bradley_terry

games = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "b")]
found = {}
for name, own in (("a never loses", games), ("a loses once", [*games, ("b", "a")])):
    first, second = zip(*own)
    scores = bradley_terry(first, second, [Winner.X] * len(own)).scores
    found[name] = {player: round(float(scores[player]), 6) for player in "abc"}
print("; ".join(f"{name}: {scores}" for name, scores in found.items()))
lost = found["a loses once"]
raise SystemExit(set(found["a never loses"].values()) != {1e-06} or not lost["a"] > lost["b"] > lost["c"])
PY
