"""Says why no variant was accepted: the count of each reason, one answer of the teacher, and what to do."""

from collections import Counter
from collections.abc import Mapping

from data_builders.perturb.teacher.generate import NOT_ACCEPTED, REFUSED, VariantStats
from data_builders.second_opinion import NOT_CONFIRMED

SHOWN = 600
"""Characters of an answer in a message."""
_STRONGER = "use a stronger model, or word the prompts yourself with --prompts DIR"
_FORM = f"the teacher does not keep the form that its prompts ask for: {_STRONGER}"
_COPIES = f"the teacher copies the reference: {_STRONGER}"
_ADVICE = {
    "the variant is missing": _FORM,
    "the answer is unclear": _FORM,
    "the variant is given twice": _FORM,
    "the variant is empty": _FORM,
    "no list of principles": _FORM,
    "the list of principles cannot be read": _FORM,
    "the same text as the reference": _COPIES,
    "no word is changed": _COPIES,
    "the answer was truncated": "the answers are cut: raise the server's limit of tokens, ask for fewer --variants, "
    "or shorten the references with --max-steps",
    REFUSED: "the server refuses the requests: its reason is below",
    NOT_CONFIRMED: "the verifier finds other flaws than the labels name: read its answers in a build with --keep all, "
    "or give another --verify SPEC",
}


def _reasons(stats: VariantStats, unmade: Mapping[str, int]) -> Counter[str]:
    """How often each reason kept a variant out, over all sets. `unmade` counts what was not made at all."""
    found: Counter[str] = Counter()
    for counts in (stats.rejected, unmade):
        for name, count in counts.items():
            found[name.partition(": ")[2] or name] += count
    del found[NOT_ACCEPTED]
    return found


def why_nothing(teacher: str, cases: int, stats: VariantStats, unmade: Mapping[str, int]) -> str:
    """The error message of a build that has accepted nothing of its cases so far."""
    reasons = _reasons(stats, unmade).most_common()
    noun = "case" if cases == 1 else "cases"
    lines = [
        f"{teacher} gave {stats.answers} answers for {cases} {noun}, and no pair is accepted. Rejected, by reason:"
    ]
    lines += [f"  {count:>5}  {reason}" for reason, count in reasons]
    if stats.rejected_answer is not None:
        name, answer = stats.rejected_answer
        shown, cut = printable(answer[:SHOWN]), len(answer) - SHOWN
        lines.append(f"One of its answers, to the request for {name}:")
        lines += [f"  | {line}" for line in shown.split("\n")]
        lines += [f"  | [… {cut:,} more characters]"] if cut > 0 else []
    top = reasons[0][0] if reasons else ""
    lines.append(f"What to do: {_ADVICE.get(top, _STRONGER)}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """A text without control characters, which a terminal would obey."""
    return "".join(char if char.isprintable() or char == "\n" else "�" for char in text)
