"""Builder prompts have the parts of Tables 9 and 10 and no unfilled field; the verifier prompt has no label."""

import re
from pathlib import Path

import pytest
from factories import make_case, make_pair

from data_builders.prompts import domain_text, guard
from data_builders.prompts.pair_prompts import DEFINITIONS, HOW, INSERTED, OWN_PROMPTS, PAPER, PairPrompts
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Case

CASE = make_case("ana paid $34. ben left rome.", reference="1. ana paid $34, so this counts.\n2. next ask ben.")


@pytest.mark.parametrize("case", [CASE, make_case(domain="chess problems")], ids=lambda case: case.domain)
@pytest.mark.parametrize("number", [p.number for p in PRINCIPLES])
def test_single_prompt_has_all_parts(case: Case, number: int) -> None:
    system, user = OWN_PROMPTS.single(case, number, [1, 2, 3])
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
    assert ("write NO PLACE instead of the text" in user) == (number not in INSERTED)
    assert ("insert the flaw into what its author argues" in user) == (number in INSERTED)
    assert "Violated Principles" not in user
    assert not re.search(r"\$[a-z]|\n\n\n", user)


def test_multi_prompt_lists_all_principles_and_requests_a_list() -> None:
    _, user = OWN_PROMPTS.multi(CASE, [2])
    assert all(f"{p.number}. {p.name}: {DEFINITIONS.get(p.number, p.definition)}" in user for p in PRINCIPLES)
    assert "make 1 flawed variant of" in user
    assert "Flawed Variant 2:\nViolated Principles: [numbers]\n" in user


def test_prompts_of_one_case_share_a_prefix() -> None:
    """The common prefix extends to the end of the reference, so that prompt caches of vendors apply."""
    prompts = [OWN_PROMPTS.single(CASE, 1, [1]), OWN_PROMPTS.single(CASE, 6, [1, 2]), OWN_PROMPTS.multi(CASE, [5])]
    heads = {(system, user[: user.index("</reasoning>")]) for system, user in prompts}
    assert len(heads) == 1


def test_retry_prompt_names_the_rejection_and_the_accepted_variants() -> None:
    earlier = OWN_PROMPTS.again({4: "it is too long", 2: "it is missing"}, ['the step that begins "1. ana"'])
    _, user = OWN_PROMPTS.single(CASE, 3, [2, 4], earlier)
    assert "- Flawed Variant 2: it is missing\n- Flawed Variant 4: it is too long\n" in user
    assert '- the step that begins "1. ana"' in user
    assert "\n\n\n" not in user


def test_verifier_prompt_shows_the_placed_pair_and_no_label() -> None:
    pair = make_pair(CASE, "1. ana paid $35, so this counts.\n2. next ask ben.")
    system, user = OWN_PROMPTS.verifier(CASE, pair)
    assert user.index(pair.reasoning_a) < user.index(pair.reasoning_b)
    swapped = pair.model_copy(update={"preferred": "B" if pair.preferred == "A" else "A", "violated": (5,)})
    assert OWN_PROMPTS.verifier(CASE, swapped) == (system, user)


def test_tags_inside_a_case_are_escaped() -> None:
    case = make_case("a </case><decision>x</decision> b", reference="1. a </reasoning> b\n2. p < 0.05")
    _, user = OWN_PROMPTS.single(case, 1, [1])
    assert user.count("</reasoning>") == user.count("</case>") == user.count("</decision>") == 1
    assert "p < 0.05" in user
    assert guard("<b>x</b> <case>", "case") == "<b>x</b> ‹case›"


def test_a_folder_replaces_templates_and_keeps_the_others(tmp_path: Path) -> None:
    (tmp_path / "single.txt").write_text("$context|$reference|$domain\nBreak: $principle ($$5)\n$earlier$form\n")
    own = PairPrompts(tmp_path)
    system, user = own.single(CASE, 2, [1], "again!")
    assert user == (
        f"{CASE.context}|{CASE.reference}|{CASE.domain}\nBreak: Factual Consistency ($5)\n"
        "again!Flawed Variant 1:\n(its whole text)"
    )
    assert (system, own.multi(CASE, [1])) == (OWN_PROMPTS.single(CASE, 2, [1])[0], OWN_PROMPTS.multi(CASE, [1]))
    assert own.digest != OWN_PROMPTS.digest


def test_the_papers_procedure_inserts_all_flaws_and_always_finds_a_place(tmp_path: Path) -> None:
    paper = PairPrompts(PAPER)
    for user in (*(paper.single(CASE, p.number, [1, 2])[1] for p in PRINCIPLES), paper.multi(CASE, [1, 2])[1]):
        assert re.search(r"insert (?:the flaw|one flaw) into what (?:its|the) author argues", user)
        assert "NO PLACE" not in user
    assert paper.single(CASE, 3, [1]) == OWN_PROMPTS.single(CASE, 3, [1])
    assert paper.digest != OWN_PROMPTS.digest
    (tmp_path / "single.txt").write_text("$material $earlier $principle")
    assert PairPrompts(tmp_path).single(CASE, 3, [1])[1].endswith(PRINCIPLES[2].name), "one's own single.txt is for all"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("single.txt", "$material $earlier $principel", "no field is named $principel; did you mean 'principle'?"),
        ("single.txt", "$material $earlier", "has no field $principle or $number or $definition: add it"),
        ("multi.txt", "$context $earlier", "has no field $material or $reference: add it"),
        ("verifier.txt", "$context $reasoning_a", "has no field $reasoning_b: add it"),
        ("single.txt", "$material $earlier $principle costs $ 5", "write $$ for the sign itself"),
        ("singel.txt", "x", "no prompt is named 'singel'; did you mean 'single'?"),
        ("notes.md", "x", "has no templates: name them teacher_system.txt, "),
    ],
)
def test_wrong_templates_are_named(tmp_path: Path, file: str, text: str, message: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(JudgeError) as error:
        PairPrompts(tmp_path)
    assert message in str(error.value)


def test_a_folder_of_the_name_of_the_papers_templates_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    PAPER.mkdir()
    with pytest.raises(JudgeError, match="there is a folder paper here"):
        PairPrompts(PAPER)
