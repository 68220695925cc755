import itertools
import textwrap
import time
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from retrieval.errors import InvalidSize
from retrieval.passages import (
    LONGEST,
    OTHER_SCRIPTS,
    SPLITTER,
    UNITS,
    prose_sentences,
    sentences,
    split_passages,
    splitter_version,
)
from retrieval.words import count_words

NASTY = (
    st.text()
    | st.text(alphabet="aB1 .!?…\n\t\"'”)(][§-\u00a0\u2028\x85\x1c∯♬é")
    | st.lists(
        st.sampled_from(
            ["v.", "no.", "Mr.", "3.5", ".", "The", "end.", "life.The", "12.", "i.v.", "\n", "(a)", "...", "x"]
        )
    ).map(" ".join)
)


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(NASTY)
@example("A∯B ♬ text & stuff. Ok ȸ.")
def test_sentence_spans_are_exact_on_any_text(text: str) -> None:
    spans = sentences(text)
    covered = [False] * len(text)
    last = 0
    for start, end in spans:
        assert last <= start < end
        assert text[start:end] == text[start:end].strip()
        covered[start:end] = [True] * (end - start)
        last = end
    assert all(covered[i] or char.isspace() for i, char in enumerate(text))


OTHER = st.text(alphabet="人血。，！」 \nกไข้aB.1।។བ་")


@given(NASTY, st.integers(1, 12))
def test_passages_are_whole_sentences_packed_greedily(text: str, words: int) -> None:
    assume(splitter_version(text) == SPLITTER)
    passages, spans = split_passages(text, words), sentences(text)
    assert [p.index for p in passages] == list(range(len(passages)))
    by_passage = [[s for s in spans if p.start <= s[0] and s[1] <= p.end] for p in passages]
    assert [s for inside in by_passage for s in inside] == spans  # each sentence in exactly one passage, in order

    def count(start: int, end: int) -> int:
        return len(text[start:end].split())

    for passage, inside in zip(passages, by_passage, strict=True):
        assert passage.text == text[passage.start : passage.end]
        assert (passage.start, passage.end) == (inside[0][0], inside[-1][1])
        assert sum(count(*s) for s in inside) <= words or len(inside) == 1
    for inside, following in pairwise(by_passage):  # the next sentence would not fit
        assert sum(count(*s) for s in inside) + count(*following[0]) > words


@given(NASTY | OTHER, st.integers(1, 12))
def test_passages_of_any_script_cover_the_text_exactly(text: str, words: int) -> None:
    covered = [False] * len(text)
    for index, passage in enumerate(split_passages(text, words)):
        assert (passage.index, passage.text) == (index, text[passage.start : passage.end])
        assert passage.text == passage.text.strip() != ""
        assert not any(covered[passage.start : passage.end])
        covered[passage.start : passage.end] = [True] * len(passage.text)
        is_long = count_words(passage.text) > words
        assert not is_long or 2 * len(passage.text.split()) > count_words(passage.text)  # words between spaces
    assert all(covered[i] or char.isspace() for i, char in enumerate(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("体温39.5度。血压低！为什么？", ["体温39.5度。", "血压低！", "为什么？"]),
        ("“是的。”医生说。他走了。", ["“是的。”", "医生说。", "他走了。"]),
        ("他说「行こう。」、そして帰った。", ["他说「行こう。」、そして帰った。"]),
        ("他来了.她走了!然后?", ["他来了.", "她走了!", "然后?"]),
        ("値は３．５です．次は４です．", ["値は３．５です．", "次は４です．"]),
        ("रोगी आया। वह गया॥", ["रोगी आया।", "वह गया॥"]),
        ("هل جاء؟ نعم۔", ["هل جاء؟", "نعم۔"]),
        ("គាត់មក។គាត់ទៅ។", ["គាត់មក។", "គាត់ទៅ។"]),
        ("The value (95%) is「高」. Next one.", ["The value (95%) is「高」.", "Next one."]),
    ],
)
def test_full_stops_of_other_scripts_end_a_sentence(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_a_long_sentence_without_spaces_is_cut_at_spaces_and_commas_and_then_between_words() -> None:
    assert [p.text for p in split_passages("一二三，四五六、七八九", 5)] == ["一二三，", "四五六、", "七八九"]
    assert [p.text for p in split_passages("一二三四五六七", 3)] == ["一二三", "四五六", "七"]
    thai = split_passages("ผู้ป่วยมีไข้สูง " * 60, 100)
    assert len(thai) == 2
    assert all(passage.text.endswith("สูง") for passage in thai)


def test_the_version_of_the_rules_names_the_texts_that_they_concern() -> None:
    assert {splitter_version(text) for text in ("", "He left. é ½ µ", "да. ναι;", "환자는")} == {SPLITTER}
    assert {splitter_version(text) for text in ("人", "ไข้", "आया।", "نعم؟", "Ａ．", "བོད")} == {OTHER_SCRIPTS}
    assert {splitter_version(text) for text in ("It is 5 mm. CT shows it.", "(2 kg.) «Éva» left.")} == {UNITS}
    assert {splitter_version(text) for text in ("5 mm. 3 of them", "5 mm. of it", "Comm. Court")} == {SPLITTER}


def test_a_unit_ends_a_sentence_before_a_capital() -> None:
    assert parts("It was 132 mmHg. CT showed 5 mg. of it, 6 mm. 3 more.") == [
        "It was 132 mmHg.",
        "CT showed 5 mg. of it, 6 mm. 3 more.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "In Mazgaj v. Poland, no. 41656/02, the Court (see Art. 5 para. 3, cf. pp. 7 et seq. of nos. 1 and 2) agreed.",
        "12. The applicant was born in 1950.",
        "II. RELEVANT DOMESTIC LAW",
        "A. The applicant's arrest and detention",
        "Mr. and Mrs. Smith, Dr. A. B. Jones, Prof. Lee, Messrs. Roe and St. John met J. R. Smith.",
        "Under § 12 of the Act, e.g. its para. IV, i.e. Art. L. 123, Acme Inc. v. Beta Ltd. held for Acme.",
        "He took 5 mg. i.v. b.i.d. with approx. 3.5 ml. of saline (Fig. 3) vs. 2.0 ml. before.",
        "Smith et al. [12] grew E. coli at 37.2 degrees, pH 7.4.",
        "U.S. Government v. Roe was decided on 3 Feb. 2001 at 5 p.m. in Paris.",
        "The value (approx. 3) rose vs. that of Figs. 2 and 3.",
        "the law ... was not applied",
        "“Why?” he asked, and “Who?” and then he left",
        "No. 5 is on p. 12.",
    ],
)
def test_abbreviations_and_numbers_do_not_end_a_sentence(text: str) -> None:
    assert parts(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He was born in 1950. He lives in Rome.", ["He was born in 1950.", "He lives in Rome."]),
        ("kara paid 34 . olga signed march .", ["kara paid 34 .", "olga signed march ."]),
        ("kara paid 34. olga signed march.", ["kara paid 34.", "olga signed march."]),
        ("He said no. Later he left.", ["He said no.", "Later he left."]),
        ("It rose to 3.4 mg. The end.", ["It rose to 3.4 mg.", "The end."]),
        ("It was given i.v. She improved.", ["It was given i.v.", "She improved."]),
        ("He sued Acme Inc. The court agreed.", ["He sued Acme Inc.", "The court agreed."]),
        ("Is it so? Yes! “It is.” Fine.", ["Is it so?", "Yes!", "“It is.”", "Fine."]),
        ("It ended (see above.) Then more.", ["It ended (see above.)", "Then more."]),
        ("It was left... The rest.", ["It was left...", "The rest."]),
        ("7. He left. 8. She stayed.", ["7. He left.", "8. She stayed."]),
        ("FACTS\n- no fever\r\n- no cough\n\nShe left", ["FACTS", "- no fever", "- no cough", "She left"]),
        (
            "the end of life.The next [1,2].In 2001 (2%).A",
            ["the end of life.", "The next [1,2].", "In 2001 (2%).", "A"],
        ),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentence_boundaries(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_addresses_and_identifiers_are_not_split() -> None:
    for text in ("see www.ema.Europa.eu/list now", "variant p.Arg117His was found", "doi 10.1/B9.bioc.Map_2 here"):
        assert parts(text) == [text]


def test_the_budget_must_be_positive() -> None:
    with pytest.raises(InvalidSize, match="words per passage must be at least 1, not 0"):
        split_passages("text", 0)


@pytest.mark.parametrize(
    "unit",
    [
        "The patient, aged 54, had a fever (38.2 C). ", "人。", "ก", "人，", "x", ".", " .", "aaa.Aaa", ").", '"', "\n",
        "a. ", "(.)",
    ],
)  # fmt: skip
def test_time_is_linear_in_the_text(unit: str) -> None:
    def cpu(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        started = time.process_time()
        split_passages(text)
        return time.process_time() - started

    cpu(1000)
    for _ in range(3):  # another process may disturb one measurement
        short, long = cpu(60_000), cpu(240_000)
        if short < 1.0 and long < 9 * max(short, 0.002):  # 4 times as much is linear, 16 times quadratic
            return
    pytest.fail(f"{short} s and, for four times the length, {long} s")


PROSE = (
    "The old sailor walked to the harbour at Dover before the rain came. Nobody had asked him to go there, and he "
    "said nothing. Anna heard of it in the grey morning, while the clocks of the town struck nine and the train left."
)


def prose_parts(text: str) -> list[str]:
    return [text[start:end] for start, end in prose_sentences(text)]


@pytest.mark.parametrize("width", [60, 72, 100])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_wrapped_lines_are_one_sentence(width: int, newline: str) -> None:
    wrapped = newline.join(textwrap.wrap(PROSE, width))
    assert [" ".join(part.split()) for part in prose_parts(wrapped)] == prose_parts(PROSE)
    assert len(prose_parts(PROSE)) == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CHAPTER I\nIt was late.", ["CHAPTER I", "It was late."]),
        ("Roses are red\nViolets are blue", ["Roses are red", "Violets are blue"]),
        ("He went home\nand slept.", ["He went home\nand slept."]),
        (f"{'One long line with a list behind it follows'}\n- one\n- two", None),
        ("First part.\n\nand second", ["First part.", "and second"]),
        ("昔々。ある日、「行こう。」と言った", ["昔々。", "ある日、「行こう。」", "と言った"]),
    ],
)
def test_other_line_breaks_and_marks_end_a_sentence(text: str, found: list[str] | None) -> None:
    assert prose_parts(text) == (text.split("\n") if found is None else found)


def test_lines_without_full_stops_are_not_joined_without_end() -> None:
    table = "\n".join("apples and pears and plums and cherries and nuts" for _ in range(200))
    assert len(prose_parts(table)) == 200
    assert max(map(len, prose_parts("\n".join([PROSE] * 40)))) <= LONGEST


@given(text=st.text(alphabet="Aab.!。」 \n\t-", max_size=200))
def test_every_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = prose_sentences(text)
    assert all(start < end and not text[start].isspace() and not text[end - 1].isspace() for start, end in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(at in covered or text[at].isspace() for at in range(len(text)))
