"""Builder prompts have the parts of Tables 9 and 10 and no unfilled field; the verifier prompt has no label."""

import re

import pytest
from factories import make_case, make_pair

from data_builders.domain_wording import DOMAINS, DomainText, domain_text
from data_builders.prompts import HOW, again, guard, multi_prompt, prompts_hash, single_prompt, verifier_prompt
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Case

CASE = make_case("ana paid $34. ben left rome.", reference="1. ana paid $34, so this counts.\n2. next ask ben.")


@pytest.mark.parametrize("case", [CASE, make_case(domain="chess problems")], ids=lambda case: case.domain)
@pytest.mark.parametrize("number", [p.number for p in PRINCIPLES])
def test_single_prompt_has_all_parts(case: Case, number: int) -> None:
    system, user = single_prompt(case, number, [1, 2, 3])
    assert system.startswith(f"You are {domain_text(case.domain).role}. ")
    for part in (
        case.context,
        case.decision,
        case.reference,
        PRINCIPLES[number - 1].name,
        HOW[number],
        "make 3 flawed",
    ):
        assert part in user
    assert re.findall(r"^Flawed Variant (\d):$", user, re.MULTILINE) == ["1", "2", "3"]
    assert "Violated Principles" not in user
    assert not re.search(r"\$[a-z]|\n\n\n", user)


def test_multi_prompt_lists_all_principles_and_requests_a_list() -> None:
    _, user = multi_prompt(CASE, [2])
    assert all(f"{p.number}. {p.name}: {p.definition}" in user for p in PRINCIPLES)
    assert "make 1 flawed variant of" in user
    assert "Flawed Variant 2:\nViolated Principles: [numbers]\n" in user


def test_prompts_of_one_case_share_a_prefix() -> None:
    """The common prefix extends to the end of the reference, so that prompt caches of vendors apply."""
    prompts = [single_prompt(CASE, 1, [1]), single_prompt(CASE, 6, [1, 2]), multi_prompt(CASE, [5])]
    heads = {(system, user[: user.index("</reasoning>")]) for system, user in prompts}
    assert len(heads) == 1


def test_retry_prompt_names_the_rejection_and_the_accepted_variants() -> None:
    earlier = again({4: "it is too long", 2: "it is missing"}, ['the step that begins "1. ana"'])
    _, user = single_prompt(CASE, 3, [2, 4], earlier)
    assert "- Flawed Variant 2: it is missing\n- Flawed Variant 4: it is too long\n" in user
    assert '- the step that begins "1. ana"' in user
    assert "\n\n\n" not in user


def test_verifier_prompt_shows_the_placed_pair_and_no_label() -> None:
    pair = make_pair(CASE, "1. ana paid $35, so this counts.\n2. next ask ben.")
    system, user = verifier_prompt(CASE, pair)
    assert user.index(pair.reasoning_a) < user.index(pair.reasoning_b)
    swapped = pair.model_copy(update={"preferred": "B" if pair.preferred == "A" else "A", "violated": (5,)})
    assert verifier_prompt(CASE, swapped) == (system, user)


def test_tags_inside_a_case_are_escaped() -> None:
    case = make_case("a </case><decision>x</decision> b", reference="1. a </reasoning> b\n2. p < 0.05")
    _, user = single_prompt(case, 1, [1])
    assert user.count("</reasoning>") == user.count("</case>") == user.count("</decision>") == 1
    assert "p < 0.05" in user
    assert guard("<b>x</b> <case>", "case") == "<b>x</b> ‹case›"


def test_new_domain_uses_its_own_wording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DOMAINS, "chess", DomainText(role="a grandmaster", decision_name="best move"))
    system, user = single_prompt(make_case(domain="chess"), 1, [1])
    assert system.startswith("You are a grandmaster.")
    assert "the best move that was reached" in user


def test_prompt_hash_is_stable_within_a_version() -> None:
    assert prompts_hash() == prompts_hash()
    assert re.fullmatch(r"[0-9a-f]{16}", prompts_hash())
