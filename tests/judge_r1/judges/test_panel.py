import pytest

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item
from judge_r1.core.registry import UnknownName
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.panel import make_panel, parse_panel

ITEMS = [
    Item(item_id="1", cluster_id="1", instruction="red or blue?", candidates=("red it is", "well, green"), gold="A"),
    Item(item_id="2", cluster_id="2", instruction="a b c", candidates=("x", "a b c d e"), gold="B"),
    Item(item_id="3", cluster_id="3", instruction="same", candidates=("same words", "same lines"), gold="tie"),
]
SUITE = LoadedBenchmark(ITEMS)


CHINESE = LoadedBenchmark(
    [Item(item_id="4", cluster_id="4", instruction="患者发热咳嗽", candidates=("患者发热，", "天气晴朗很好"), gold="A")]
)


def winners(text: str, suite: LoadedBenchmark = SUITE) -> list[str]:
    row = make_panel(text, JudgeBuild(""))
    found = [run_all(judge, suite.requests(orders=row.orders, samples=row.samples)) for judge in row.members]
    verdicts = [output.verdict for outputs in found for output in outputs]
    return [verdict.winner for verdict in verdicts if isinstance(verdict, PairwiseVerdict)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("always-a", ["A", "A", "A"]),
        ("longer", ["A", "B", "tie"]),
        ("panel:orders=2(longer)", ["A", "B", "B", "A", "tie", "tie"]),
        ("two=panel(always-a|longer)", ["A", "A", "A", "A", "B", "tie"]),
        ("vote:rule=all(always-a|longer)", ["A", "tie", "tie"]),
        ("heavy=vote:weights=1/2(always-a|longer)", ["A", "B", "A"]),
    ],
)
def test_judges_without_a_model(text: str, expected: list[str]) -> None:
    assert winners(text) == expected


def test_words_are_counted_in_scripts_without_spaces() -> None:
    assert winners("longer", CHINESE) == ["B"]


def test_the_coin_is_fair_enough_and_the_same_for_a_seed() -> None:
    coin = make_panel("random", JudgeBuild("")).members[0]
    suite = LoadedBenchmark([ITEMS[0].model_copy(update={"item_id": str(number)}) for number in range(400)])
    verdicts = [output.verdict for output in run_all(coin, suite.requests())]
    heads = sum(verdict == PairwiseVerdict(winner="A") for verdict in verdicts)
    assert 160 < heads < 240
    assert [output.verdict for output in run_all(coin, suite.requests())] == verdicts


def test_a_row_is_named_or_named_after_its_judge() -> None:
    assert make_panel("coin=random", JudgeBuild("")).name == "coin"
    row = make_panel("best of=panel:orders=2,samples=3(always-a|longer)", JudgeBuild(""))
    assert (row.name, row.orders, row.samples, len(row.members)) == ("best of", 2, 3, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Agentic!", "must read"),
        ("a/b=longer", "ROW with letters"),
        ("panel(longer|panel(random))", "cannot be a member"),
        ("agentic", "names no model"),
        ("always-a@model", "takes no model"),
        ("panel:orders=3(longer)", "orders: Input should be less than or equal to 2"),
        ("panel:samples=0(longer)", "samples: Input should be greater"),
        ("panel:votes=3(longer)", "unknown key votes; available: orders"),
        ("panel", "has no members"),
        (
            "longer|",
            "^judge 'longer|': part 2 of 2 is empty: write a SPEC there, or leave out its |$".replace("|", "[|]"),
        ),
        ("cascade:threshold=0.9(|longer)", "^judge '[|]longer': part 1 of 2 is empty"),
        ("vote:rule=all()", "write two judges or more in brackets"),
        ("direct@", "'direct@' names nothing after its @"),
        ("panel:samples=0b11(longer)", "samples: Input should be a valid integer.*'0b11'"),
        ("panel:samples=1_0(longer)", "samples: a number has no _: '1_0'"),
        ("panel:samples=true(longer)", "samples: Input should be a valid integer.*'true'"),
        ("panel:orders=true(longer)", "orders: Input should be a valid integer.*'true'"),
        ("panel:orders=(longer)", "^judge 'panel:orders=.longer.': the option orders has no value"),
        ("panel:temperature=(longer)", "the option temperature has no value: write temperature=VALUE"),
        ("panel:temperature=nan(longer)", "temperature: Input should be a finite number"),
        ("panel:samples(longer)", "the option samples has no value: write samples=VALUE"),
    ],
)
def test_a_spec_that_means_nothing_is_refused(text: str, says: str) -> None:
    with pytest.raises(JudgeError, match=says):
        make_panel(text, JudgeBuild(""))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("direct:timout=3@http://h/v1#m", "a judge has no option timout; did you mean 'timeout'"),
        ("agentic:logprob=true@http://h/v1#m", "did you mean 'logprobs'"),
        ("direct:shot=3@bundled:tiny", "did you mean 'shots'"),
        ("checklist:atempts=2@http://h/v1#m", "did you mean 'attempts'"),
        ("direct:retriver=bm25@http://h/v1#m", "unknown key retriver; did you mean 'retriever'"),
        ("direct:temperature=2@http://h/v1#m", "unknown key temperature; available: budget"),
        ("direct@tests/conftest.py", "^tests/conftest.py is a file, and a model is a folder"),
    ],
)
def test_a_misspelled_option_of_a_model_is_named_with_the_nearest_one(text: str, says: str) -> None:
    with pytest.raises(JudgeError, match=says):
        make_panel(text, JudgeBuild(""))


def test_an_option_is_a_text_not_yaml() -> None:
    assert parse_panel("panel:samples=010,temperature=1e-1(longer)").samples == 10
    assert parse_panel("panel:temperature=1e-1(longer)").temperature == 0.1


def test_an_unknown_judge_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'longer'"):
        make_panel("lnger", JudgeBuild(""))


def test_a_spec_is_read_before_any_model_is_loaded() -> None:
    assert parse_panel("agentic:context=none@nowhere/a=b").name == "agentic:context=none@nowhere/a=b"
    assert parse_panel("x=panel:orders=2(agentic:context=none@nowhere|longer)").name == "x"
    with pytest.raises(UnknownName, match="did you mean 'longer'"):
        parse_panel("longer|longr")
    assert parse_panel("x=direct:logprobs=true@https://host/v1#a=b").name == "x"
