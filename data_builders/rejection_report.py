"""Says why a build with a teacher has made nothing: the count of each reason, one answer, and what to do."""

from collections import Counter
from collections.abc import Mapping

from data_builders.perturb.teacher.answer_parser import DECLINED, NO_PLACE
from data_builders.second_opinion import NOT_CONFIRMED
from data_builders.teachers import REFUSED, Attempts
from judge_r1.core.text_check import counted

SHOWN = 600
"""Characters of an answer in a message."""
_REPEATED = ("not accepted in", "no answer of the right form", "no answer accepted")
"""How reasons begin that follow from rejections, which are counted by themselves."""
_FORM = "the teacher does not keep the form that its prompts ask for: {}"
_COPIES = "the teacher copies the reference: {}"
_CUT = "the answers are cut: raise the server's limit of tokens, ask for fewer variants, or shorten the texts"
_ADVICE = {
    **dict.fromkeys(("the variant is missing", "the answer is unclear", "the variant is given twice"), _FORM),
    **dict.fromkeys(("the variant is empty", "is empty", "no JSON object", "no list of principles"), _FORM),
    "the list of principles cannot be read": _FORM,
    **dict.fromkeys(("text outside the tags", "no action", "no thought"), _FORM),
    **dict.fromkeys(("the same text as the reference", "no word is changed"), _COPIES),
    **dict.fromkeys(("the answer was truncated", "cut off", "was cut off"), _CUT),
    **dict.fromkeys(("too long", "cut"), "raise episode.budget.response_tokens in the recipe, or use another model"),
    NO_PLACE: "the teacher finds no natural place for the flaws: give references with more steps, or {}",
    DECLINED: "the teacher declines to write flaws: word the prompts yourself with prompts=DIR, or use another model",
    REFUSED: "the server refuses the requests: its reason is below",
    NOT_CONFIRMED: "the verifier finds other flaws than the labels name: read its answers in a build with keep=all, "
    "or give another verify=SPEC",
}


def _reasons(attempts: Attempts, unmade: Mapping[str, int]) -> Counter[str]:
    """How often each reason kept something out, without the name of a set or layer. `unmade` counts what was not made
    at all."""
    found: Counter[str] = Counter()
    for counts in (attempts.rejected, unmade):
        for name, count in counts.items():
            reason = name.partition(": ")[2] or name
            if not any(text.startswith(_REPEATED) for text in (name, reason)):
                found[reason] += count
    return found


def why_nothing(
    teacher: str, items: str, noun: str, attempts: Attempts, unmade: Mapping[str, int], stronger: str
) -> str:
    """The error message of a build that has accepted no `noun` of its items so far. `stronger` is the advice where no
    other fits."""
    reasons = _reasons(attempts, unmade).most_common()
    lines = [f"{teacher} gave {counted(attempts.answers, 'answer')} for {items}, and no {noun} is accepted. Reasons:"]
    lines += [f"  {count:>5}  {reason}" for reason, count in reasons]
    if attempts.rejected_answer is not None:
        name, answer = attempts.rejected_answer
        shown, cut = printable(answer[:SHOWN]), len(answer) - SHOWN
        lines.append(f"One of its answers, to the request for {name}:")
        lines += [f"  | {line}" for line in shown.split("\n")]
        lines += [f"  | [… {cut:,} more characters]"] if cut > 0 else []
    top = reasons[0][0] if reasons else ""
    lines.append(f"What to do: {_ADVICE.get(top, '{}').format(stronger)}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """A text without control characters, which a terminal would obey."""
    return "".join(char if char.isprintable() or char == "\n" else "�" for char in text)
