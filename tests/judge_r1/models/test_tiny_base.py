"""The shipped base model can search but gives no valid judgments."""

from collections import Counter
from itertools import islice

from paths import RECIPES

from data_builders.perturb.rules.engine import perturb
from data_builders.worlds.mini.source import read
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.files.pair_set import PairSet
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.models.hub import load_model
from judge_r1.training.recipe import load_recipe

RECIPE = RECIPES / "mini" / "warmup.yaml"


def test_the_base_is_small_and_gives_no_valid_answer() -> None:
    assert load_model("bundled:tiny").num_parameters() <= 2_000_000
    cases = list(read(None, 4, 77, Counter()))
    pairs = [p for c in cases for p in islice(perturb(c, variants=1, rule_set="mini", abstained=Counter()), 3)]
    suite = pair_benchmark(PairSet.of(cases, pairs))
    judge = AgenticJudge(JudgeBuild("bundled:tiny", texts=suite.texts), load_recipe(RECIPE).episode)
    valid = [played.trajectory.judgment is not None for played in run_all(judge, suite.requests())]
    assert valid == [False] * 12
