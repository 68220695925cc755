"""The parser: every style of a score, issues by tag, thoughts, and answers that say nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.judges.memo.metrics import COHERENCE, FLUENCY, Metric, parse_metrics
from judge_r1.judges.memo.parser import parse_comparison, parse_evaluation

METRICS = (COHERENCE, FLUENCY)


@pytest.mark.parametrize(
    "line",
    [
        "**FINAL Fluency Score:** 3.5", "**FINAL Fluency Score**: 3.5", "**FINAL Fluency Score: 3.5**",
        "4) FINAL Fluency Score: 3.5", "FINAL fluency score is 3.5", "Final Fluency: 3.5", "**Fluency Score:** 3.5",
        "Fluency Rating: 3.5/5", "the Fluency score = 3.5", "- **Fluency**: 3.5", "Fluency: 3.5.",
        "FINAL   Fluency \t Score :  [3.5]", "FINAL Fluency Score: 3,5",
    ],
)  # fmt: skip
def test_every_style_of_a_score(line: str) -> None:
    assert parse_evaluation(line, METRICS).scores == {"coherence": None, "fluency": 3.5}


def test_scores_are_read_by_name_in_any_order() -> None:
    lines = ["FINAL Coherence Score: 2", "FINAL Fluency Score: 4.5"]
    for order in (lines, lines[::-1]):
        assert parse_evaluation("\n".join(order), METRICS).scores == {"coherence": 2.0, "fluency": 4.5}


@pytest.mark.parametrize("answer", ["", "FINAL Fluency Score: x", "FINAL Fluency Score: 0", "Fluency Score: 7", "6.5"])
def test_a_missing_score_is_none_and_never_zero(answer: str) -> None:
    assert parse_evaluation(answer, METRICS).scores == {"coherence": None, "fluency": None}


def test_the_last_of_the_final_scores_counts() -> None:
    answer = "Fluency: 2\nCoherence: 3\nFINAL Fluency Score: 4\nFINAL Fluency Score: 1"
    assert parse_evaluation(answer, METRICS).scores == {"coherence": 3.0, "fluency": 1.0}


def test_issues_by_tag() -> None:
    answer = """1) Coherence Issues:
- [LOGIC] The sister appears
  from nowhere.
* [WORD CHOICE/STYLE] Odd.
- [LOGIC] A second one.
- [lower] not a tag
2) **Fluency Issues:**
- None
3) FINAL Coherence Score: 3
4) FINAL Fluency Score: 5"""
    found = parse_evaluation(answer, METRICS)
    assert found.issues == {
        "coherence": {
            "[LOGIC]": ("The sister appears from nowhere.", "A second one. - [lower] not a tag"),
            "[WORD CHOICE/STYLE]": ("Odd.",),
        },
        "fluency": {},
    }
    assert found.scores == {"coherence": 3.0, "fluency": 5.0}


def test_a_copy_of_the_layout_names_no_problem() -> None:
    answer = "1) Fluency Issues:\n- [TAG] description\n- [SPELLING] teh\n- [TAG] description"
    assert parse_evaluation(answer, METRICS).issues["fluency"] == {"[SPELLING]": ("teh",)}


def test_a_block_ends_at_the_other_metric_without_numbers() -> None:
    answer = "Fluency Issues:\n- [SPELLING] teh\nCoherence Issues:\n- [LOGIC] why\nFINAL Fluency Score: 4"
    found = parse_evaluation(answer, METRICS).issues
    assert found == {"fluency": {"[SPELLING]": ("teh",)}, "coherence": {"[LOGIC]": ("why",)}}


def test_thoughts_do_not_count() -> None:
    answer = "FINAL Fluency Score: 4"
    assert parse_evaluation(f"<think>Fluency: 1</think>{answer}", METRICS).scores["fluency"] == 4
    assert parse_evaluation(f"Fluency: 1 maybe</think>{answer}", METRICS).scores["fluency"] == 4
    assert parse_evaluation(f"<think>Fluency: 1 {answer}", METRICS).scores["fluency"] is None, "cut off in a thought"


def test_principles_and_names_of_several_words() -> None:
    metrics = parse_metrics("P1+P2")
    answer = "Factual Consistency Issues:\n- [DATE] wrong year\nFINAL Factual Consistency Score: 2.5"
    found = parse_evaluation(answer, metrics)
    assert found.scores == {"Logical Correctness": None, "Factual Consistency": 2.5}
    assert found.issues["Factual Consistency"] == {"[DATE]": ("wrong year",)}


TAGS = st.sampled_from(["[GRAMMAR]", "[WORD CHOICE]", "[LOGIC]"])
WORDS = st.text(alphabet="abc ,.", min_size=1, max_size=20).map(str.strip).filter(bool)


@given(
    st.dictionaries(st.sampled_from(["coherence", "fluency"]), st.lists(st.tuples(TAGS, WORDS), max_size=4)),
    st.integers(2, 10),
    st.integers(2, 10),
)
def test_what_is_written_is_read(listed: dict[str, list[tuple[str, str]]], first: int, second: int) -> None:
    parts = []
    for number, metric in enumerate(METRICS, 1):
        bullets = [f"- {tag} {text}" for tag, text in listed.get(metric.name, [])]
        parts.append("\n".join([f"{number}) {metric.title} Issues:", *bullets]))
    answer = "\n".join([*parts, f"3) FINAL Coherence Score: {first / 2}", f"4) FINAL Fluency Score: {second / 2}"])
    found = parse_evaluation(answer, METRICS)
    assert found.scores == {"coherence": first / 2, "fluency": second / 2}
    for metric in METRICS:
        expected: dict[str, tuple[str, ...]] = {}
        for tag, text in listed.get(metric.name, []):
            expected[tag] = (*expected.get(tag, ()), " ".join(text.split()))
        assert found.issues[metric.name] == expected


@given(st.text(max_size=300))
def test_no_text_breaks_the_parser(text: str) -> None:
    scores = parse_evaluation(text, METRICS).scores
    assert all(score is None or 1 <= score <= 5 for score in scores.values())


def test_a_title_inside_of_another_one_is_no_title() -> None:
    metrics = [Metric(name=name, definition="x") for name in ("quality", "style quality")]
    answer = "Style quality Issues:\n- [DULL] flat\nFINAL Style quality Score: 2"
    found = parse_evaluation(answer, metrics)
    assert found.scores == {"quality": None, "style quality": 2.0}
    assert found.issues == {"quality": {}, "style quality": {"[DULL]": ("flat",)}}
    found = parse_evaluation(f"Quality Issues:\n- [BAD] worse\n{answer}\nFINAL Quality Score: 4", metrics)
    assert found.scores == {"quality": 4.0, "style quality": 2.0}
    assert found.issues["quality"] == {"[BAD]": ("worse",)}


@pytest.mark.parametrize(
    ("answer", "winner", "worse_in"),
    [
        ("FINAL Better: A\nFINAL Worse In: Quality", "A", ["Quality"]),
        ("**FINAL better:** b\n**Final Worse in:** style  quality", "B", ["Style quality"]),
        ("FINAL Better: tie\nFINAL Worse In: none", "tie", []),
        ("<think>FINAL Better: A</think>FINAL Better: B", "B", []),
        ("FINAL Better: B\nFINAL Worse In: Style quality, Quality", "B", ["Quality", "Style quality"]),
        ("FINAL Better: A | B | tie\nFINAL Worse In: Quality | Style quality", None, []),
        ("FINAL Better: Apples", None, []),
        ("Document A is better.", None, []),
    ],
)
def test_a_comparison_names_document_and_metrics(answer: str, winner: str | None, worse_in: list[str]) -> None:
    metrics = [Metric(name=name, definition="d") for name in ("Quality", "Style quality")]
    verdict, named = parse_comparison(answer, metrics)
    assert (verdict and verdict.winner, named) == (winner, worse_in)
