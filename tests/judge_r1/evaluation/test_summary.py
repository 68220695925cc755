"""summary.json: keys, numbers, differences."""

import json
from collections.abc import Sequence

import pytest
from evaluation_factories import ScriptedJudge, pair_result, toy_pairs

from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import InvalidVerdict, preference
from judge_r1.evaluation.summary import BadSummary, summarize, summary_row
from judge_r1.statistics.intervals import DifferentPairs, clustered_mean_ci

PAIRS = toy_pairs(6)


def rows(*skills: int) -> dict[str, list[ItemResult]]:
    return {f"s{s}": [pair_result(f"s{s}", p, ScriptedJudge("s", s).one(p)) for p in PAIRS] for s in skills}


def settings_of(outcomes: dict[str, list[ItemResult]]) -> dict[str, dict[str, float]]:
    return {name: {"temperature": 0.0} for name in outcomes}


def test_summary_has_the_documented_keys() -> None:
    outcomes = rows(3, 8)
    summary = summarize(outcomes, [("s8", "s3")], {"s3": 1.0, "s8": 2.0}, settings_of(outcomes))
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert list(summary) == ["rows", "differences", "shared", "seconds"]
    row = summary["rows"][1]
    documented = ["name", "n", "accuracy", "ci95", "label_f1", "valid_rate", "searches", "by_domain", "by_principle"]
    assert set(documented) <= set(row)
    assert (row["name"], row["n"], row["cases"], row["settings"]) == ("s8", len(PAIRS), 6, {"temperature": 0.0})
    assert set(row["by_domain"]) == {"academic", "legal", "medical"}
    assert list(row["by_principle"]) == ["P1", "P2", "P3", "P4", "P5", "P6"]
    assert {"a", "b", "delta", "ci95"} <= set(summary["differences"][0])


def test_summary_numbers_equal_plain_counting() -> None:
    outcomes = rows(6)
    row = summarize(outcomes, [], {}, settings_of(outcomes))["rows"][0]
    mine = outcomes["s6"]
    right = [o for o in mine if preference(o.verdict) == o.gold]
    assert row["accuracy"] == len(right) / len(mine)
    assert row["ci95"] == list(clustered_mean_ci([float(o in right) for o in mine], [o.cluster_id for o in mine]))
    f1 = [
        2
        * len({*o.labels.violated} & {*(o.labels.predicted or ())})
        / (len(o.labels.violated) + len(o.labels.predicted or ()))
        for o in mine
    ]
    assert row["label_f1"] == pytest.approx(sum(f1) / len(f1))
    assert row["valid_rate"] == row["valid_strict"] == row["valid_tolerant"] == sum(o.valid for o in mine) / len(mine)
    assert sum(row["ended"].values()) == len(mine)
    two = row["by_principle"]["P2"]
    of_two = [o for o in mine if 2 in o.labels.violated]
    alone = [o for o in of_two if o.labels.violated == (2,)]
    assert (two["n"], two["single"]["n"]) == (12, 6) == (len(of_two), len(alone))
    assert two["accuracy"] == sum(o in right for o in of_two) / 12
    assert two["single"]["accuracy"] == sum(o in right for o in alone) / 6
    assert two["named"] == sum(2 in (o.labels.predicted or ()) for o in of_two) / 12


def test_principles_without_single_pairs_have_none() -> None:
    pair = toy_pairs(1, [(2, 4)])[0]
    outcomes = {"row": [pair_result("row", pair, ScriptedJudge().one(pair))]}
    row = summarize(outcomes, [], {}, {"row": {}})["rows"][0]
    assert list(row["by_principle"]) == ["P2", "P4"]
    assert row["by_principle"]["P2"]["single"] is None


def test_differences_are_first_minus_second_on_every_slice() -> None:
    outcomes = rows(2, 9)
    summary = summarize(outcomes, [("s9", "s2")], {}, settings_of(outcomes))
    low, high = summary["rows"]
    difference = summary["differences"][0]
    assert difference["delta"] == pytest.approx(high["accuracy"] - low["accuracy"])
    assert difference["delta"] > 0
    assert difference["ci95"][0] <= difference["delta"] <= difference["ci95"][1]
    for code, part in difference["by_principle"].items():
        expected = high["by_principle"][code]["accuracy"] - low["by_principle"][code]["accuracy"]
        assert part["delta"] == pytest.approx(expected)
    for domain, part in difference["by_domain"].items():
        expected = high["by_domain"][domain]["accuracy"] - low["by_domain"][domain]["accuracy"]
        assert part["delta"] == pytest.approx(expected)
    assert difference["label_f1"]["delta"] == pytest.approx(high["label_f1"] - low["label_f1"])


def test_summary_does_not_depend_on_the_order_of_results() -> None:
    outcomes = rows(5)
    backwards = {"s5": outcomes["s5"][::-1]}
    first, second = (summarize(o, [], {}, settings_of(o))["rows"][0] for o in (outcomes, backwards))
    assert first["ci95"] == second["ci95"]
    assert first["by_principle"]["P4"] == second["by_principle"]["P4"]


def test_invalid_panels_are_rejected() -> None:
    outcomes = rows(3, 8)
    with pytest.raises(BadSummary, match="did you mean 's8'"):
        summarize(outcomes, [("s88", "s3")], {}, settings_of(outcomes))
    with pytest.raises(BadSummary, match="without its decoding settings"):
        summarize(outcomes, [], {}, {"s3": {}})
    with pytest.raises(BadSummary, match="no results"):
        summarize({"s3": []}, [], {}, {"s3": {}})
    with pytest.raises(BadSummary, match="twice"):
        summarize({"s3": outcomes["s3"] * 2}, [], {}, {"s3": {}})
    with pytest.raises(DifferentPairs):
        summarize({"s3": outcomes["s3"], "s8": outcomes["s8"][1:]}, [("s3", "s8")], {}, settings_of(outcomes))


def test_items_that_all_judges_get_alike() -> None:
    """The shares equal plain counting over the judges; a baseline and judges of other items give none."""
    outcomes = rows(3, 8)
    summary = summarize(outcomes, [], {}, settings_of(outcomes))
    scores = [(a.score, b.score) for a, b in zip(*outcomes.values(), strict=True)]
    found = summary["shared"]
    assert found["judges"] == ["s3", "s8"]
    assert found["n"] == len(PAIRS)
    assert found["all_wrong"] == scores.count((0, 0)) / len(PAIRS)
    assert found["all_right"] == scores.count((1, 1)) / len(PAIRS) > 0
    assert sum(part["n"] for part in found["by_domain"].values()) == len(PAIRS)
    alone = settings_of(outcomes) | {"s8": {"baseline": True}}
    assert summarize(outcomes, [], {}, alone)["shared"] is None
    fewer = outcomes | {"s8": outcomes["s8"][:-1]}
    assert summarize(fewer, [], {}, settings_of(outcomes))["shared"] is None


def test_results_that_do_not_count_are_only_in_the_own_measures() -> None:
    outcomes = rows(6)
    counted = [result for result in outcomes["s6"] if result.gold == "A"]

    def extra(results: Sequence[ItemResult]) -> dict[str, float]:
        return {"all": float(len(results))}

    row = summarize(outcomes, [], {}, settings_of(outcomes), extra, lambda gold: gold == "A")["rows"][0]
    assert 0 < row["n"] == len(counted) < len(PAIRS)
    assert row["accuracy"] == sum(result.score for result in counted) / len(counted)
    assert row["extra"] == {"all": len(PAIRS)}


def test_prompts_that_do_not_fit_are_no_invalid_answers() -> None:
    outcomes = rows(6)["s6"]
    unfit = InvalidVerdict(reason="prompt_too_long")
    changed = [
        result.model_copy(
            update={
                "verdict": unfit,
                "score": 0.0,
                "votes": tuple(vote.model_copy(update={"verdict": unfit}) for vote in result.votes),
            }
        )
        for result in outcomes[:3]
    ]
    row = summary_row("s6", [*changed, *outcomes[3:]], {})
    rest = outcomes[3:]
    assert row.does_not_fit == pytest.approx(3 / len(outcomes))
    assert row.accuracy_fitting == pytest.approx(sum(result.score for result in rest) / len(rest))
    assert row.valid_rate == pytest.approx(sum(result.valid for result in rest) / len(rest))
    assert summary_row("s6", changed, {}).valid_rate == 0
