from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from data_builders.rationales import WRITERS, Rationale
from data_builders.rationales.casebook import telling_sentence
from data_builders.rationales.prose import marks, plain, positions
from data_builders.rationales.rules import rationales
from judge_r1.benchmarks.casebook.cases import load_part
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import text_tokenizer
from judge_r1.training.recipe import load_recipe

RECIPE = load_recipe(Path("english", "warmup"))
Written = list[tuple[ReasoningPair, Trajectory]]


def written(data: PairSet) -> tuple[Written, Counter[str]]:
    rejected: Counter[str] = Counter()
    tokenizer = SafeTokenizer(text_tokenizer(RECIPE.model))
    writer = WRITERS.get(RECIPE.sft.rationales or "")
    return list(rationales(data, RECIPE.episode, tokenizer, rejected=rejected, writer=writer)), rejected


@pytest.fixture(scope="module")
def found() -> Written:
    data = load_part("train")
    found, rejected = written(data)
    assert len(found) >= 0.7 * len(data.pairs)
    assert set(rejected) == {"writer_gave_up"}
    return found


def test_every_rationale_searches_first_and_names_what_is_violated(found: Written) -> None:
    for pair, trajectory in found:
        *searching, last = trajectory.turns
        assert len(searching) == len(pair.origin.flaws)
        assert not any("breaks" in turn.text for turn in searching)
        assert "(document" not in last.text
        assert all(f"{flaw.principle}, " in last.text.split("breaks")[-1] for flaw in pair.origin.flaws)


def test_what_a_rationale_quotes_was_shown(found: Written) -> None:
    quotes = 0
    for pair, trajectory in found:
        shown = " ".join(plain(passage.text) for turn in trajectory.turns for passage in turn.passages)
        for part in trajectory.turns[-1].text.split("The case file has: ")[1:]:
            quotes += 1
            assert part.split(".</think>")[0] in shown
            assert set(pair.violated) & {2, 4}
    assert quotes >= 20


def texts_of(writing: Rationale, shown: Evidence) -> Iterator[str]:
    """What a rationale says if every search shows the same passage."""
    with suppress(StopIteration):
        yield next(writing)
        while True:
            yield writing.send([shown])


def test_a_passage_of_another_case_gives_no_rationale() -> None:
    data, swapped = load_part("train"), 0
    writer = WRITERS.get("casebook")
    for pair in data.pairs:
        for case in data.cases.values():
            if set(pair.violated) & {2, 4} and case.case_id != pair.case_id:
                writing = writer(data.case_of(pair), pair, RECIPE.episode)
                whole = Evidence(case_id=case.case_id, start=0, end=len(case.context), text=case.context, score=1.0)
                assert not any("breaks" in text for text in texts_of(writing, whole))
                swapped += 1
    assert swapped == 470


@pytest.mark.parametrize("part", ["train", "dev"])
def test_every_flaw_shows_in_its_sentences(part: str) -> None:
    """A flaw of the casebook is a whole step, of which one sentence may differ."""
    for pair in load_part("train" if part == "train" else "dev").pairs:
        places = list(positions(pair))
        assert [principle for principle, _, _ in places] == [flaw.principle for flaw in pair.origin.flaws]
        assert all(a != b for _, a, b in places)


def test_pairs_of_other_parts_are_written_as_prose() -> None:
    """The notes of the dev and test parts train no judge."""
    data = load_part("dev")
    asked = {next(iter(WRITERS.get("casebook")(data.case_of(p), p, RECIPE.episode)), "") for p in data.pairs}
    as_prose = {next(iter(WRITERS.get("text")(data.case_of(p), p, RECIPE.episode)), "") for p in data.pairs}
    assert asked == as_prose


def test_a_sentence_tells_by_the_words_of_the_better_reasoning_alone() -> None:
    texts = ["Mr Ost had the days off. Mr Ost put the account into the letter box. Ms Kell put nothing into it."]
    true, false = "Mr Ost put the account into the box", "Ms Kell put the account into the box"
    assert telling_sentence(true, false, texts) == "Mr Ost put the account into the letter box"
    assert marks(true) - marks(false) == {"mr", "ost"}
    assert telling_sentence(true, false, texts[:0]) is None
    assert telling_sentence(true, false, ["Ms Kell put nothing into the box."]) is None


def test_no_sentence_tells_of_two_names_that_are_exchanged() -> None:
    true, false = (
        "Hale Mills sold eight tonnes and Brandt made an offer",
        "Brandt sold eight tonnes and Hale Mills made an offer",
    )
    assert telling_sentence(true, false, ["Hale Mills and Brandt made an offer of eight tonnes."]) is None
