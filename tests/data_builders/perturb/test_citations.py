"""Citations are sentences of the case, word by word, and nothing else in a reference changes."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import ACADEMIC, FAMILY, FRAGMENTS, LEGAL, MEDICAL, case_of

from data_builders.perturb.rules.citations import _QUOTES, STATEMENTS, cite_facts, with_citations
from data_builders.perturb.rules.facts import MAX_WORDS, MIN_WORDS, facts
from data_builders.perturb.rules.remarks import find_remarks
from data_builders.perturb.rules.statements import find_statements
from data_builders.perturb.rules.steps import numbering, split_steps
from judge_r1.core.records import Case

PLAIN = (MEDICAL, LEGAL, ACADEMIC, FAMILY, FRAGMENTS)
SENTENCES = st.sampled_from(
    [
        "The knee was swollen and warm in the evening.",
        "The applicant was seen at the station by a guard.",
        "The samples were kept in a cold room for 12 days.",
        "However, the fever was gone after three more days.",
        "It was found in the left pocket of the coat.",
        "History: a farmer with a cough for nine weeks.",
        "He left.",
        "The letter (see Figure 2) was read by the clerk.",
        "Was the door of the flat closed by the owner?",
    ]
)
CONTEXTS = st.lists(st.tuples(SENTENCES, st.sampled_from([" ", "\n", "\n\n- "])), max_size=12).map(
    lambda parts: "".join(text + end for text, end in parts)
)
REFERENCES = st.lists(
    st.lists(
        st.sampled_from(
            [
                "The finding is typical of a common cold",
                "This supports the plan of the surgeon",
                "The claim is weak, because the guard saw no car",
                "Excluded due to normal values in the blood",
            ]
        ),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=5,
).map(lambda steps: "\n".join(f"{n}. {'. '.join(step)}{'.' * (n % 2)}" for n, step in enumerate(steps, 1)))


def cited_in(case: Case) -> list[tuple[int, int, str]]:
    """The sentences that cite a fact, with their remarks, as characters of the reference, and the fact."""
    remarks = {start - 1: end for start, end in find_remarks(case.reference, case.domain)}
    return [
        (step.start + citation.whole[0], remarks.get(end := step.start + citation.whole[1], end), citation.fact.text)
        for step in with_citations(case, split_steps(case.reference))
        for citation in step.citations
    ]


def is_recovered(plain: str, case: Case, added: list[tuple[int, int, str]]) -> bool:
    """Whether the plain reference is left without the added sentences and what joins them to the sentence before."""
    at, position = 0, 0
    for start, end, _ in sorted(added):
        kept = case.reference[position:start].removesuffix(" ")
        if not plain.startswith(kept, at):  # the sentence before had no full stop
            kept = kept.removesuffix(".")
        if not plain.startswith(kept, at):
            return False
        at, position = at + len(kept), end
    return plain[at:] == case.reference[position:]


def check(plain: Case, count: int, seed: int) -> None:
    case = cite_facts(plain, count, seed)
    cited = [one for one in cited_in(case) if one[2] not in plain.reference]
    assert case == cite_facts(plain, count, seed)
    assert len(cited) == case.meta.get("citations", 0) <= count
    assert len({text for _, _, text in cited}) == len({start for start, _, _ in cited}) == len(cited)
    assert numbering(case.reference) == numbering(plain.reference)
    stated = [(start, end, "") for start, end, _ in find_statements(case.reference, case.domain)]
    assert len(stated) == case.meta.get("statements", 0) <= STATEMENTS
    assert is_recovered(plain.reference, case, cited + stated)
    assert (case.context, case.decision, case.domain) == (plain.context, plain.decision, plain.domain)
    for start, end, text in cited:
        assert text in plain.context
        assert text in case.reference[start:end]
    if not cited and not stated:
        assert case == plain


@given(CONTEXTS)
def test_facts_are_sentences_of_the_context_that_stand_alone(context: str) -> None:
    found = facts(context)
    assert len({fact.text for fact in found}) == len(found)
    for fact in found:
        assert context[fact.start : fact.end] == context[fact.span.start : fact.span.end] == fact.text
        assert MIN_WORDS <= len(fact.text.split()) <= MAX_WORDS
        assert not fact.text.startswith(("However", "It "))
        assert "Figure" not in fact.text
        assert "?" not in fact.text


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.domain)
@pytest.mark.parametrize("count", [0, 1, 3, 6, 50])
def test_only_citations_are_added(case: Case, count: int) -> None:
    for seed in range(5):
        check(case, count, seed)
    wanted = cite_facts(case, count).meta.get("citations", 0)
    assert wanted == count or count > 3


@given(CONTEXTS, REFERENCES, st.integers(0, 8), st.integers(0, 3), st.sampled_from(["medical", "insurance"]))
def test_only_citations_are_added_to_any_reference(
    context: str, reference: str, count: int, seed: int, domain: str
) -> None:
    check(case_of(domain, f"A case. {context}", reference), count, seed)


def test_the_seed_decides_what_is_quoted() -> None:
    assert len({cite_facts(MEDICAL, 6, seed).reference for seed in range(5)}) == 5
    assert cite_facts(MEDICAL, 6).case_id != MEDICAL.case_id


@pytest.mark.parametrize("context", ["Nothing is known.", "However, it was so. See Table 3 for all of it.", "?"])
def test_a_context_without_facts_gives_no_citation(context: str) -> None:
    case = case_of("medical", context, MEDICAL.reference)
    assert facts(context) == ()
    assert cite_facts(case, 6) == case


def test_a_label_is_no_part_of_a_fact() -> None:
    context = "- **History:** A farmer with a cough for nine weeks\nVitals: The pulse was 88 per minute at rest."
    assert [fact.text for fact in facts(context)] == [
        "A farmer with a cough for nine weeks",
        "The pulse was 88 per minute at rest.",
    ]


def test_what_the_reference_says_already_is_not_cited() -> None:
    fact = "The keys of the flat were returned to the landlord."
    case = case_of("legal", fact, "1. The keys of the flat were returned to the landlord in December, which is late.")
    assert cite_facts(case, 6) == case


def test_what_p2_can_change_is_cited_first() -> None:
    value, term = "The fever of the cook was noted on 3 May 2003.", "The swelling was on the left arm of the cook."
    neither = "The cook was brought to the house by a friend."
    case = case_of("medical", f"{neither} {term} {value}", "1. This is a common cold.")
    for count, facts_cited in ((1, {value}), (2, {value, term}), (3, {value, term, neither})):
        cited = {text for _, _, text in cited_in(cite_facts(case, count))}
        assert cited <= facts_cited
        assert value in cited


def test_no_citation_parts_a_sentence_from_one_that_refers_to_it() -> None:
    fact = "The cart was found in the barn of a neighbour."
    case = case_of("legal", fact, "1. The owner sold the cart in spring. This was lawful under the act.")
    assert cite_facts(case, 6).reference.index(fact) > case.reference.index("under the act")


def test_a_domain_without_quotations_uses_the_general_ones() -> None:
    fact = "The suspect was seen at the station by a guard, as he says."
    case = cite_facts(case_of("insurance", f"A case. {fact}", LEGAL.reference), 1)
    [(start, end, text)] = cited_in(case)
    assert text == fact
    assert "file" in case.reference[start:end], "the fact says `he`, so it needs a quotation"
    assert f"“{fact}”" in case.reference[start:end]


def test_a_citation_behind_a_unit_or_an_initial_is_a_sentence_of_its_own() -> None:
    """`sentences` does not split behind them, and P4 would replace the author's sentence and the numbering as well."""
    facts_ = ("The letter was read by Mr K.", "The mother of the boy, who was 9 years old, spoke with J. Smith.")
    authors = ("The peak of 71 nmol/L is below 450 nmol/L.", "This was said by A. Brown and, as he writes, by C.")
    for author, fact in product(authors, facts_):
        for written in ("{fact}", *_QUOTES["medical"]):
            sentence = written.replace("{fact}", fact)
            reference = f"1. {author} {sentence} The matter was closed.\n2. {sentence}"
            case = case_of("medical", f"A case. {fact}", reference)
            found = [
                step.text[slice(*citation.whole)]
                for step in with_citations(case, split_steps(reference))
                for citation in step.citations
            ]
            assert found == [sentence, sentence]


def test_the_sentence_of_the_author_around_a_fact_has_no_numbering() -> None:
    fact = "The samples were kept in a cold room for 12 days."
    case = case_of("academic", f"{fact} The end.", f"1. “{fact}” – do the authors mean this?\n2. As said: {fact}")
    steps = with_citations(case, split_steps(case.reference))
    wholes = [step.text[slice(*citation.whole)] for step in steps for citation in step.citations]
    assert wholes == [f"“{fact}” – do the authors mean this?", fact]
