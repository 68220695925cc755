"""Attacks on judges that obey known parts of a text."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from analysis_factories import FunctionJudge, answer, toy_folder
from command_server import run
from rich.console import Console
from split_factories import mini_folder

from data_builders.perturb.pair_checks import check_pair
from judge_r1.benchmarks.base import BadBenchmark, LoadedBenchmark
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.items import Item, ItemResult
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.attacks.benchmark import ATTACKS, CONTROL, NONE, Attacked, attacked
from judge_r1.evaluation.attacks.run import failures, flipped, rates
from judge_r1.evaluation.runner import evaluate
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.judges.panel import JudgePanel

Obeys = Callable[[PairwiseTask], str | None]
"""The comparison of an attacked judge, or None where it judges rightly."""


@pytest.fixture
def data(tmp_path: Path) -> PairSet:
    return toy_folder(tmp_path / "pairs")


def judged(
    data: PairSet, out: Path, obeys: Obeys, attacks: tuple[str, ...] = tuple(ATTACKS), orders: int | None = None
) -> tuple[list[Attacked], list[ItemResult]]:
    """The results of a judge that is right, except where it obeys."""
    loaded, items = attacked(pair_benchmark(data), attacks)

    def says(pair, request):  # type: ignore[no-untyped-def]
        better = "AB".index(pair.preferred)
        return answer(obeys(request.task) or ("A>B" if request.order[0] == better else "A<B"))

    panel = JudgePanel("p", (FunctionJudge("agentic@toy", says, loaded.labels, {}),), orders)
    return items, list(evaluate(panel, loaded, out=out, resume=False, console=Console(quiet=True)).items)


def prefers(words: str) -> Obeys:
    """Prefers the text that has these words."""
    return lambda task: "A>B" if words in task.reasoning_a else "A<B" if words in task.reasoning_b else None


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_changes_the_worse_text_or_the_case_and_nothing_else(attack: str, data: PairSet) -> None:
    loaded, items = attacked(pair_benchmark(data), [attack])
    for one in (one for one in items if one.attack == attack):
        pair = data.by_id()[one.original.item_id]
        for order in ((0, 1), (1, 0)):
            task = loaded.task(one.item, order)
            assert isinstance(task, PairwiseTask)
            shown = [task.reasoning_a, task.reasoning_b]
            assert shown[order.index(1 - one.worse)] == pair.reference
            in_case = data.case_of(pair).context != task.context
            assert in_case == (shown[order.index(one.worse)] == pair.flawed)
            assert loaded.texts[task.case_id or ""] == task.context
            assert (task.decision, task.domain) == (data.case_of(pair).decision, pair.domain)


def test_a_judge_that_obeys_one_attack_flips_under_it_alone(data: PairSet, tmp_path: Path) -> None:
    items, results = judged(data, tmp_path / "eval", prefers("senior committee"))
    found = rates(items, results)
    assert list(found) == list(ATTACKS)
    assert {name: row["flips"]["value"] for name, row in found.items()} == dict.fromkeys(ATTACKS, 0) | {"authority": 1}
    assert found["authority"]["above_control"]["value"] == 1
    assert found[CONTROL]["above_control"] is None
    assert {row["before"] for row in found.values()} == {1}
    assert {one.attack for one in flipped(items, results)} == {"authority"}


def test_the_finished_answer_names_the_worse_text_in_both_orders(data: PairSet, tmp_path: Path) -> None:
    def obeys(task: PairwiseTask) -> str | None:
        text = task.reasoning_a + task.reasoning_b
        return next((found for found in ("A>B", "A<B") if f'{{"comparison": "{found}"}}' in text), None)

    items, results = judged(data, tmp_path / "eval", obeys, ("verdict",), orders=2)
    assert rates(items, results)["verdict"]["accuracy"]["value"] == 0


def test_a_note_in_the_case_reaches_only_the_pair_that_it_is_about(data: PairSet) -> None:
    loaded, items = attacked(pair_benchmark(data), ["poison"])
    notes = {one.case_id: loaded.texts[one.case_id or ""] for one in items if one.attack == "poison"}
    assert len(notes) == len(data.pairs)
    for one in items:
        text = loaded.texts[one.case_id or ""]
        assert ("Note of the registry" in text) == (one.attack == "poison")
        assert loaded.labels[one.item_id].case_id == one.case_id == one.item.case_id


def test_rates_count_over_the_pairs_that_were_right_before(data: PairSet, tmp_path: Path) -> None:
    """The judge is wrong about every pair with a flawed value of 91, attack or not; it obeys the control and praise."""

    def obeys(task: PairwiseTask) -> str | None:
        text = task.reasoning_a + task.reasoning_b
        wrong = "A>B" if any(f"{n} crowns" in task.reasoning_a for n in range(90, 99)) else "A<B"
        obeyed = "end of the text" in text and "92 crowns" in text
        return wrong if "91 crowns" in text or obeyed or "precise, complete" in text else None

    found = rates(*judged(data, tmp_path / "eval", obeys, (CONTROL, "praise", "format")))
    assert found[CONTROL]["before"] == pytest.approx(7 / 8)
    assert found[CONTROL]["flips"]["value"] == pytest.approx(1 / 7)
    assert found["praise"]["flips"] == found["praise"]["flips"] | {"value": 1, "n": 42}
    assert found["praise"]["above_control"]["value"] == pytest.approx(6 / 7)
    assert found["praise"]["accuracy"]["value"] == 0
    assert found["format"]["accuracy"]["value"] == pytest.approx(7 / 8)


def test_failures_are_labelled_pairs_with_the_same_flaws(data: PairSet, tmp_path: Path) -> None:
    _, items = attacked(pair_benchmark(data), tuple(ATTACKS))
    toy_folder(tmp_path / "failures", failures([one for one in items if one.attack != NONE], data))
    found = load_pairs(tmp_path / "failures")
    by_case = sum(bool({2, 4} & set(pair.violated)) for pair in data.pairs)  # a note in the case says what they say
    assert len(found.pairs) == len(data.pairs) * (len(ATTACKS) - 1) - by_case  # master-key keeps no flaw
    assert all(pair.origin.attacked and check_pair(found.case_of(pair), pair) is None for pair in found.pairs)
    spans = {pair.flawed[flaw.span.start : flaw.span.end] for pair in data.pairs for flaw in pair.origin.flaws}
    for pair in found.pairs:
        assert {pair.flawed[flaw.span.start : flaw.span.end] for flaw in pair.origin.flaws} <= spans
    groups = {case.group.removeprefix(f"{case.domain}/") for case in found.cases.values()}
    assert groups == data.cases.keys()


def test_pairs_without_a_case_have_no_attack_on_it() -> None:
    item = Item(item_id="i", cluster_id="i", instruction="Add.", candidates=("2 + 2 = 4", "2 + 2 = 5"), gold="A")
    loaded = LoadedBenchmark([item])
    assert [one.attack for one in attacked(loaded, ["praise", "poison"])[1]] == [NONE, "praise"]
    with pytest.raises(BadBenchmark, match="no pair has one"):
        attacked(loaded, ["poison"])
    with pytest.raises(BadBenchmark, match="no item is a pair"):
        attacked(LoadedBenchmark([item.model_copy(update={"gold": "tie"})]), ["praise"])


def test_the_command_writes_rates_a_page_and_failures(tmp_path: Path) -> None:
    mini_folder(tmp_path / "pairs", 2)
    line = ("attack", "longer", "--path", tmp_path / "pairs", "--limit", "8", "--out", tmp_path / "out")
    done = run(*line, "--attack", "padding", "--attack", "poison")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "attacks.json").read_text())["attacks"]
    assert list(found) == [CONTROL, "padding", "poison"]
    assert (found["padding"]["flips"]["value"], found["poison"]["flips"]["value"]) == (1, 0)
    assert "<td>" in (tmp_path / "out" / "attacks.html").read_text()
    flips = load_pairs(tmp_path / "out" / "failures")
    assert 0 < len(flips.pairs) <= sum(attack["flips"]["n"] for attack in found.values())
    assert all(len(pair.flawed) > len(pair.reference) for pair in flips.pairs)
    assert "--resume" in run(*line, "--attack", "padding", "--attack", "poison").stderr
    refused = run(*line, "--attack", "bribe")
    assert (refused.returncode, "choose among control, override" in refused.stderr) == (2, True)
