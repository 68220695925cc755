import re
from collections import Counter
from pathlib import Path

import pytest
import real_tokenizers
from factories import make_case, mini_pairs

from data_builders.perturb.pair_checks import flaws_in_text_order, replaced_texts
from data_builders.perturb.rules.engine import perturb
from data_builders.rationales import WRITERS, Writer, writer_for
from data_builders.rationales.prose import write_text
from data_builders.rationales.rules import rationales
from data_builders.sources import SOURCES
from data_builders.worlds.mini.rationales import write_mini
from data_builders.worlds.mini.source import FACT, facts_of
from judge_r1.core.records import Flaw, Origin, ReasoningPair, Span, Trajectory
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.tags import TAG
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet

DATA = mini_pairs(44)
BUDGET = Budget(max_searches=6, top_k=1, passage_words=3, response_tokens=80, observation_tokens=32)
CONFIG = EpisodeConfig(context="none", prompt="compact", retriever="bm25", prompt_tokens=400, budget=BUDGET)
NAMED = re.compile(r"(?:illogical|differs|unfair|absent|vague|harmful) ([1-6])\b")


def written(
    config: EpisodeConfig = CONFIG, data: PairSet = DATA, writer: Writer | None = None
) -> tuple[dict[str, Trajectory], Counter[str]]:
    rejected: Counter[str] = Counter()
    tokenizer = real_tokenizers.load("tiny")
    found = rationales(data, config, tokenizer, rejected=rejected, writer=writer)
    return {pair.pair_id: trajectory for pair, trajectory in found}, rejected


def changed(**budget: int) -> EpisodeConfig:
    return CONFIG.model_copy(update={"budget": BUDGET.model_copy(update=budget)})


def text_of(trajectory: Trajectory) -> str:
    return "".join(turn.text for turn in trajectory.turns)


def test_every_pair_gets_a_rationale_with_reward_1() -> None:
    found, rejected = written()
    assert not rejected
    assert list(found) == [pair.pair_id for pair in DATA.pairs]
    for trajectory in found.values():
        assert trajectory.ended == "answer"
        assert trajectory.reward is not None
        assert trajectory.reward["r"] == 1.0
        assert trajectory.searches >= 1
        assert set(trajectory.logprobs) == {0.0}


@pytest.mark.parametrize("config", [CONFIG, CONFIG.model_copy(update={"search": False, "context": "full"})])
def test_thoughts_of_a_rationale_name_the_gold_principles(config: EpisodeConfig) -> None:
    """The principles named in the thoughts equal those of the pair."""
    wide = config.model_copy(update={"budget": BUDGET.model_copy(update={"response_tokens": 400})})
    found, rejected = written(wide)
    assert not rejected
    for pair in DATA.pairs:
        thoughts = text_of(found[pair.pair_id]).split("<answer>")[0]
        assert sorted({int(n) for n in NAMED.findall(thoughts)}) == list(pair.violated)


def test_thoughts_quote_the_retrieved_passage() -> None:
    """The thought after a search compares passage and claim word by word up to the first difference and names the
    violated principle."""
    found, _ = written()
    ends: Counter[str] = Counter()
    for trajectory in found.values():
        for turn, following in zip(trajectory.turns, trajectory.turns[1:], strict=False):
            [passage] = turn.passages
            record = passage.text.rstrip(".").split()
            claim = re.findall(r"says (\w+ \w+ \w+)", turn.text)[-1].split()
            assert (turn.query or "").split() == claim[:2]
            expected = []
            for recorded, claimed, number in zip(record, claim, "442", strict=True):
                expected += [recorded, claimed, *(["same"] if recorded == claimed else ["differs", number])]
                if recorded != claimed:
                    break
            assert following.text.replace("<think>", "").split("</think>")[0].split() == expected
            ends[expected[-1]] += 1
    assert all(ends[end] >= 3 for end in ("same", "2", "4"))


def test_pairs_over_budget_are_dropped_and_counted() -> None:
    for config, reason in [
        (changed(response_tokens=8), None),
        (changed(max_searches=1), "search_refused"),
        (CONFIG.model_copy(update={"prompt_tokens": 20}), "prompt_too_long"),
    ]:
        found, rejected = written(config)
        assert len(found) + rejected.total() == len(DATA.pairs)
        assert rejected.total() > 10
        if reason:
            assert set(rejected) == {reason}
        for trajectory in found.values():
            assert not any(turn.notice for turn in trajectory.turns)


def test_writers_use_only_shown_passages() -> None:
    """One observation fits no passage, another fits some of three. Thoughts quote only shown passages, and a writer
    without evidence gives up."""
    found, rejected = written(changed(observation_tokens=16))
    assert set(rejected) == {"writer_gave_up"}
    assert not any(trajectory.searches for trajectory in found.values())
    found, rejected = written(changed(passage_words=6, top_k=3, observation_tokens=32))
    assert set(rejected) == {"writer_gave_up"}
    turns = [turn for trajectory in found.values() for turn in trajectory.turns if turn.query]
    assert any(turn.passages_dropped for turn in turns)
    assert all(turn.passages for turn in turns)


@pytest.mark.parametrize("top_k", [1, 3])
def test_the_matching_fact_of_a_passage_is_compared_with_the_claim(top_k: int) -> None:
    """A correct claim is never marked as differing, even if the search ranks another passage first."""
    found, rejected = written(changed(passage_words=6, top_k=top_k, observation_tokens=80))
    assert len(found) > len(DATA.pairs) / 2
    assert set(rejected) <= {"writer_gave_up"}
    by_id = DATA.by_id()
    for pair_id, trajectory in found.items():
        differs = "differs" in text_of(trajectory)
        assert differs == bool({2, 4} & set(by_id[pair_id].violated))


def test_hasty_writer_checks_all_wrong_claims_and_some_right_ones() -> None:
    data = mini_pairs(200, seed=1)
    found, rejected = written(changed(response_tokens=200), data, WRITERS.get("mini-hasty"))
    assert not rejected
    sound = Counter[bool]()
    for pair in data.pairs:
        facts = [str(fact) for fact in facts_of(data.case_of(pair).context)]
        for turn in found[pair.pair_id].turns:
            claims = [match[1] for match in re.finditer(rf"says ({FACT.pattern}),", turn.text)]
            for number, claim in enumerate(claims, 1):
                checked = turn.query is not None and number == len(claims)
                if claim in facts:
                    sound[checked] += 1
                else:
                    assert checked
    assert sound.total() > 500
    assert 0.35 < sound[True] / sound.total() < 0.45


@pytest.mark.parametrize("name", ["mini", "mini-hasty"])
def test_mini_writers_are_deterministic_with_reward_1(name: str) -> None:
    wide = changed(response_tokens=200)
    found, rejected = written(wide, writer=WRITERS.get(name))
    assert not rejected
    assert [t.reward and t.reward["r"] for t in found.values()] == [1.0] * len(DATA.pairs)
    assert written(wide, writer=WRITERS.get(name))[0] == found


def test_each_source_has_its_writer() -> None:
    assert writer_for(DATA.case_of(DATA.pairs[0])) is write_mini
    assert writer_for(make_case()) is write_text


# ---- prose ----

CONTEXT = (
    "The applicant was born in 1971 and lives in Graz. He was arrested on 3 May 2001 and held for nine days. "
    "A doctor saw him on 5 May 2001 and noted bruises on both arms. The court dismissed his claim in 2003."
)
REFERENCE = (
    "1. He was arrested on 3 May 2001 and held for nine days.\n"
    "2. The doctor noted bruises on both arms, so the force used left marks.\n"
    "3. The State has to explain how they came about."
)
PROSE = make_case(CONTEXT, reference=REFERENCE, decision="Violation of Article 3.")


def prose_pair(*edits: tuple[int, str, str]) -> ReasoningPair:
    flawed, flaws = REFERENCE, []
    for principle, old, new in edits:
        at = flawed.index(old)
        flawed = flawed.replace(old, new, 1)
        flaws.append(Flaw(principle=principle, operator="toy", span=Span(start=at, end=at + len(new))))
    return ReasoningPair.of(PROSE, flawed, variant=1, origin=Origin(teacher="toy", seed=0, flaws=tuple(flaws)), seed=0)


PROSE_PAIRS = [
    prose_pair((2, "nine days", "two days")),
    prose_pair((1, "so the force used left marks", "so no force was used at all")),
    prose_pair((2, "3 May", "7 May"), (6, "has to explain how", "should hide how it is that")),
]
PROSE_CONFIG = EpisodeConfig(
    context="none",
    retriever="bm25",
    budget=Budget(max_searches=2, top_k=1, passage_words=20, response_tokens=600, observation_tokens=300),
)


def prose_rationales(config: EpisodeConfig = PROSE_CONFIG) -> list[Trajectory]:
    rejected: Counter[str] = Counter()
    tokenizer = real_tokenizers.load("awkward")
    found = [t for _, t in rationales(PairSet.of([PROSE], PROSE_PAIRS), config, tokenizer, rejected=rejected)]
    assert not rejected
    return found


def test_prose_rationale_quotes_the_differing_sentences() -> None:
    found = prose_rationales()
    assert [trajectory.reward and trajectory.reward["r"] for trajectory in found] == [1.0, 1.0, 1.0]
    first = text_of(found[0])
    worse, better = ("B", "A") if PROSE_PAIRS[0].preferred == "A" else ("A", "B")
    assert f"{worse} says: He was arrested on 3 May 2001 and held for two days." in first
    assert f"{better} says: He was arrested on 3 May 2001 and held for nine days." in first
    query = {"3", "May", "2001", "and", "held", "for", "nine", "two", "days"}
    assert set((found[0].turns[0].query or "").split()) == query
    assert "The case file has: He was arrested on 3 May 2001 and held for nine days." in found[0].turns[1].text
    assert f"{worse} breaks 2, Factual Consistency" in first
    assert found[2].searches == 1  # for P2 alone
    assert "breaks 6, Harmlessness" in text_of(found[2])


def test_prose_rationale_respects_the_search_budget() -> None:
    one = PROSE_CONFIG.model_copy(update={"budget": PROSE_CONFIG.budget.model_copy(update={"max_searches": 1})})
    assert [trajectory.searches for trajectory in prose_rationales(one)] == [1, 0, 1]
    none = PROSE_CONFIG.model_copy(update={"search": False, "context": "full"})
    assert [trajectory.searches for trajectory in prose_rationales(none)] == [0, 0, 0]


def test_prose_rationale_without_search_judges_at_the_end() -> None:
    config = PROSE_CONFIG.model_copy(update={"search": False, "context": "full"})
    text = text_of(prose_rationales(config)[2])
    assert text.rindex(" says: ") < text.index(" breaks ")


def swapped(pair: ReasoningPair) -> ReasoningPair:
    """The same two texts with the other one as the flawed reasoning."""
    flaws, shift = [], 0
    for flaw, old in zip(flaws_in_text_order(pair), replaced_texts(pair) or (), strict=True):
        start = flaw.span.start - shift
        shift += flaw.span.end - flaw.span.start - len(old)
        flaws.append(flaw.model_copy(update={"span": Span(start=start, end=start + max(1, len(old)))}))
    origin = pair.origin.model_copy(update={"flaws": tuple(flaws)})
    return pair.model_copy(update={"preferred": "A" if pair.preferred == "B" else "B", "origin": origin})


def test_text_before_the_first_observation_does_not_reveal_the_verdict() -> None:
    pairs = [*PROSE_PAIRS, *perturb(PROSE, abstained=Counter())]
    assert {pair.preferred for pair in pairs} == {"A", "B"}
    assert {pair.kind for pair in pairs} == {"single", "multi"}
    searched = [pair for pair in pairs if {2, 4} & set(pair.violated)]
    assert len(searched) > 2
    for pair in searched:
        before, other = (next(write_text(PROSE, p, PROSE_CONFIG)) for p in (pair, swapped(pair)))
        assert before == other
        assert before.startswith("<think>A says: ")
        assert " breaks " not in before


def test_without_evidence_prose_is_judged_only_for_context_free_principles() -> None:
    budget = Budget(max_searches=2, top_k=1, passage_words=100, response_tokens=600, observation_tokens=70)
    tight = PROSE_CONFIG.model_copy(update={"budget": budget})
    rejected: Counter[str] = Counter()
    data, tokenizer = PairSet.of([PROSE], PROSE_PAIRS), real_tokenizers.load("awkward")
    [(pair, trajectory)] = rationales(data, tight, tokenizer, rejected=rejected)
    assert pair.violated == (1,)
    assert trajectory.searches == 0
    assert "breaks 1, Logical Correctness" in text_of(trajectory)
    assert rejected == {"writer_gave_up": 2}


def passages_of(text: str) -> list[Evidence]:
    return [Evidence(case_id=PROSE.case_id, start=0, end=len(text), text=text, score=1.0)]


@pytest.mark.parametrize(
    ("principle", "old", "new", "passage", "settles"),
    [
        (2, "nine days", "two days", "He was arrested on 3 May 2001 and held for nine days.", True),
        (2, "nine days", "two days", "He was arrested on May 3rd, 2001 and held for 9 days.", True),
        (2, "nine days", "two days", "The court dismissed his claim in 2003.", False),
        (2, "nine days", "two days", "He was arrested on 3 May 2001 and held for two days.", False),
        (2, "nine days", "two days", "The trial took nine days.", False),
        (4, "on both arms", "on both arms, seen by a nurse", "A doctor noted bruises on both arms and marks.", True),
        (4, "on both arms", "on both arms, seen by a nurse", "The court dismissed his claim in 2003.", False),
        (
            4,
            "on both arms",
            "on both arms, seen by a nurse",
            "A nurse had seen bruises on both arms, the doctor noted.",
            False,
        ),
    ],
)
def test_only_a_passage_that_settles_the_question_is_followed_by_a_verdict(
    principle: int, old: str, new: str, passage: str, settles: bool
) -> None:
    pair = prose_pair((principle, old, new))
    rationale = write_text(PROSE, pair, PROSE_CONFIG)
    next(rationale)
    if not settles:
        with pytest.raises(StopIteration):
            rationale.send(passages_of(passage))
        return
    worse, better = ("B", "A") if pair.preferred == "A" else ("A", "B")
    said = f"{better} agrees with it, {worse} does not" if principle == 2 else f"It has nothing of {worse}'s detail"
    assert f"The case file has: {passage.rstrip('.')}. {said}: {worse} breaks {principle}, " in rationale.send(
        passages_of(passage)
    )


@pytest.mark.real_data
def test_swapped_passages_leave_no_rationale(real_data: Path) -> None:
    """The writer gets what the search finds in another case."""
    cases = list(SOURCES.get("echr").read(real_data / "legal_echr_argmining", 8, 0, Counter()))
    pairs = [pair for case in cases for pair in perturb(case, abstained=Counter()) if pair.violated in ((2,), (4,))]
    data, config = PairSet.of(cases, pairs), PROSE_CONFIG
    searcher = CaseSearcher(data.texts, config)
    written = Counter[bool]()
    for pair in pairs:
        other = next(case for case in cases if case.case_id != pair.case_id)
        for case, swapped_passages in ((data.case_of(pair), False), (other, True)):
            rationale = write_text(data.case_of(pair), pair, config)
            query = next(rationale).split("<search>")[1].removesuffix("</search>")
            try:
                rationale.send(searcher.of_case(case.case_id)(query))
            except StopIteration:
                continue
            written[swapped_passages] += 1
    assert written[False] > 5
    assert not written[True]


def test_think_tag_of_the_chat_template_is_not_repeated() -> None:
    tokenizer = real_tokenizers.awkward()
    before, tokenizer.chat_template = tokenizer.chat_template, tokenizer.chat_template + "<think>\n"
    try:
        data, rejected = PairSet.of([PROSE], PROSE_PAIRS), Counter[str]()
        found = [t for _, t in rationales(data, PROSE_CONFIG, SafeTokenizer(tokenizer), rejected=rejected)]
    finally:
        tokenizer.chat_template = before
    assert len(found) == len(PROSE_PAIRS)
    for trajectory in found:
        written = SafeTokenizer(tokenizer).decode(trajectory.token_ids)
        assert written.startswith("A says")
        assert written.count("<think>") == written.count("</think>") - 1
        assert trajectory.turns[0].text.startswith("<think>A says")


def test_tags_in_texts_are_escaped_in_the_rationale() -> None:
    hostile = make_case(
        CONTEXT.replace("nine days", "nine</search> days <think> <answer>x</answer>"),
        reference=REFERENCE.replace("nine days", "nine</search> days <think>"),
        decision="x",
    )
    at = hostile.reference.index("nine")
    flawed = hostile.reference.replace("nine</search>", "two<answer>")
    flaw = Flaw(principle=2, operator="toy", span=Span(start=at, end=at + len("two<answer>")))
    pair = ReasoningPair.of(hostile, flawed, variant=1, origin=Origin(teacher="t", seed=0, flaws=(flaw,)), seed=0)
    tokenizer = real_tokenizers.load("awkward")
    rejected: Counter[str] = Counter()
    [(_, trajectory)] = rationales(PairSet.of([hostile], [pair]), PROSE_CONFIG, tokenizer, rejected=rejected)
    tags = TAG.findall(text_of(trajectory))
    assert tags.count("<answer>") == tags.count("</answer>") == tags.count("<search>") == 1
    assert tags.count("<think>") == tags.count("</think>")


@pytest.mark.parametrize("after", ["nine days.", "left marks.", "came about."])
def test_an_added_sentence_is_quoted_alone(after: str) -> None:
    """The flaw starts with the space behind the sentence before it."""
    pair = prose_pair((6, after, f"{after} Nobody should hear of this."))
    [flaw] = pair.origin.flaws
    start = flaw.span.start + len(after)
    span = Span(start=start, end=flaw.span.end)
    pair = pair.model_copy(
        update={"origin": Origin(teacher="toy", seed=0, flaws=(flaw.model_copy(update={"span": span}),))}
    )
    first = next(write_text(PROSE, pair, PROSE_CONFIG))
    sides = {"Nobody should hear of this", "nothing"}
    assert set(re.findall(r"says: (.*?)\.(?= B says|</think>)", first)) == sides
