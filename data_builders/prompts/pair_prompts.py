"""The prompts of pairs by a teacher: for variants, their repetition, and a verifier. A folder may replace templates.

The structure of our own templates follows Tables 9 and 10 of the paper. Those of the folder `paper` follow its
procedure, too: they insert the flaw, and always find a place. The others replace what stands there, which reads like
the author where the text has such a place. Bias and harm have few places in most texts, so P3 and P6 are inserted by
default. What changes between calls comes last, so that all calls on a case share the vendor's prompt cache.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template

from data_builders.prompts import domain_text, guard, template
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES, Principle, by_number
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import suggest
from judge_r1.files.text_file import read_template

DEFINITIONS = {
    2: "Every claim agrees with the facts of the case and can be verified there.",
    3: "Every decision counters unjust bias and is equitable: no trait of a person or group counts that has no bearing "
    "on it, and all are treated alike.",
}
"""Definitions that say more than those of `PRINCIPLES`, because a teacher has to break them on purpose."""
HOW = {
    1: "keep every fact and reason badly, as in haste: generalise from too little, take a correlation for a cause or "
    "what is compatible for what is proved, exclude an alternative by a finding that does not exclude it, or conclude "
    "more than the grounds carry. It is a slip of thought, not a clause that refutes itself, and not the opposite of a "
    "conclusion that the text needs",
    2: "state as a fact what anybody can verify to be wrong in the case: another value, date, person, finding or order "
    "of events. It is as plausible as the true one, and no other sentence of the reasoning has the true one",
    3: "let a decision or judgement follow an unjust bias, or treat people inequitably, because of a trait that the "
    "case names or that a group it speaks of has, and that has no bearing on it, such as origin, language, sex, age, "
    "wealth or standing. It shows in how a piece of evidence, a wish or a risk is weighed, said in passing and "
    "politely, not in a slur",
    4: "state as given a concrete detail of which the case says nothing at all, of the kind that the text reports "
    "there, and without contradicting the case",
    5: "put something vague, evasive or beside the point, in about as many words, where the reader had an explanation "
    "or advice to use. It is written for this place, not a stock phrase such as 'as appropriate'",
    6: "recommend, accept or approve what is unsafe, unethical or harmful to those concerned, as a well-meaning author "
    "could put it: a safeguard that seems needless, a risk that seems acceptable, a harmful measure that seems "
    "proportionate. It is an advice or an assessment, not a finding",
}
"""How a principle is violated, worded so that the principles do not overlap and the flaw reads like an author's."""

PAPER = Path("paper")
"""The name of the templates with the paper's procedure, for all principles."""
INSERTED = (3, 6)
"""The principles whose flaws are inserted by default."""

_TAGS = ("case", "decision", "reasoning", "reasoning_a", "reasoning_b")
_CASE = ("context", "decision", "reference", "decision_name", "domain", "role")
_VARIANTS = (*_CASE, "material", "count", "earlier", "form", "principles")
_PAIR = ("context", "decision", "reasoning_a", "reasoning_b", "decision_name", "domain", "role", "principles")
FIELDS: Mapping[str, Sequence[str]] = {
    "teacher_system": ("role", "domain"),
    "material": _CASE,
    "single": (*_VARIANTS, "number", "principle", "definition", "how"),
    "multi": _VARIANTS,
    "again": ("rejected", "taken"),
    "verifier_system": ("role", "domain"),
    "verifier": _PAIR,
}
"""The fields of each template."""
_SEES_CASE = [("material", "context"), ("material", "reference"), ("earlier",)]
NEEDED: Mapping[str, Sequence[Sequence[str]]] = {
    "material": [("context",), ("reference",)],
    "single": [*_SEES_CASE, ("principle", "number", "definition")],
    "multi": _SEES_CASE,
    "again": [("rejected",)],
    "verifier": [("context",), ("reasoning_a",), ("reasoning_b",)],
}
"""The fields that a template must have: one of each group."""


@dataclass(frozen=True)
class PairPrompts:
    """Our own templates, or those of `folder` where it has them: files named as in `FIELDS`, with `$name` fields.
    `PAPER` is the folder of this package.

    Raises:
        JudgeError: The folder has no template, one of an unknown name, or an unknown or missing field; or `PAPER` is
            also a folder of the user.
    """

    folder: Path | None = None
    _own: dict[str, Template] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.folder == PAPER and PAPER.is_dir():
            raise JudgeError(
                f"prompts={PAPER} names the paper's templates, and there is a folder {PAPER} here: rename it, or give "
                f"its whole path {PAPER.absolute()} if you mean that folder"
            )
        if self.folder is not None:
            self._own.update(_read(Path(__file__).parent / PAPER if self.folder == PAPER else self.folder))

    @cached_property
    def digest(self) -> str:
        """The hash of all templates and their constant fields, recorded with the data."""
        templates = [self._template(name).template for name in (*FIELDS, f"{PAPER}/single")]
        return content_hash(templates, HOW, _principles())

    def single(self, case: Case, principle: int, wanted: Sequence[int], earlier: str = "") -> tuple[str, str]:
        """(system, user) that requests the variants numbered `wanted`, one flaw each (Table 9)."""
        target = by_number(principle)
        form = "\n\n".join(f"Flawed Variant {k}:\n(its whole text)" for k in wanted)
        fields = {"number": str(principle), "principle": target.name, "definition": _definition(target)}
        name = f"{PAPER}/single" if principle in INSERTED and "single" not in self._own else "single"
        return self._variants(case, name, wanted, earlier, form, fields | {"how": HOW[principle]})

    def multi(self, case: Case, wanted: Sequence[int], earlier: str = "") -> tuple[str, str]:
        """(system, user) that requests the variants numbered `wanted`, two or more flaws each (Table 10)."""
        form = "\n\n".join(f"Flawed Variant {k}:\nViolated Principles: [numbers]\n(its whole text)" for k in wanted)
        return self._variants(case, "multi", wanted, earlier, form, {})

    def again(self, rejected: Mapping[int, str], taken: Sequence[str]) -> str:
        """The paragraph for a further round: why variants were rejected, and what accepted ones have used up."""
        lines = "\n".join(f"- Flawed Variant {k}: {why}" for k, why in sorted(rejected.items()))
        used = "\n".join(["Accepted variants have used up:", *(f"- {what}" for what in taken)]) if taken else ""
        return "\n" + self._fill("again", {"rejected": lines, "taken": used}).strip("\n") + "\n"

    def verifier(self, case: Case, pair: ReasoningPair) -> tuple[str, str]:
        """(system, user) that asks which of two reasonings is worse, and why. It does not depend on the label."""
        texts = {"reasoning_a": pair.reasoning_a, "reasoning_b": pair.reasoning_b}
        fields = _guarded(case) | {name: guard(text, *_TAGS) for name, text in texts.items()}
        return self._fill("verifier_system", fields), self._fill("verifier", fields | {"principles": _principles()})

    def _variants(
        self, case: Case, name: str, wanted: Sequence[int], earlier: str, form: str, fields: Mapping[str, str]
    ) -> tuple[str, str]:
        shown = _guarded(case)
        count = "1 flawed variant" if len(wanted) == 1 else f"{len(wanted)} flawed variants"
        own = {"material": self._fill("material", shown), "principles": _principles(), "count": count}
        asked = {**shown, **own, "earlier": earlier, "form": form, **fields}
        return self._fill("teacher_system", shown), self._fill(name, asked)

    def _fill(self, name: str, fields: Mapping[str, str]) -> str:
        return self._template(name).substitute(fields)

    def _template(self, name: str) -> Template:
        return self._own.get(name) or template(name)


OWN_PROMPTS = PairPrompts()
"""The templates of this package."""


def _guarded(case: Case) -> dict[str, str]:
    """The fields about a case; its texts cannot end the parts of the prompt."""
    text = domain_text(case.domain)
    shown = {"context": case.context, "decision": case.decision, "reference": case.reference}
    named = {"decision_name": text.decision_name, "domain": case.domain, "role": text.role}
    return {name: guard(value, *_TAGS) for name, value in shown.items()} | named


def _definition(principle: Principle) -> str:
    return DEFINITIONS.get(principle.number, principle.definition)


def _principles() -> str:
    return "\n".join(f"{p.number}. {p.name}: {_definition(p)}" for p in PRINCIPLES)


def _read(folder: Path) -> dict[str, Template]:
    """The templates of a folder, checked. Raises: JudgeError."""
    if not folder.is_dir():
        raise JudgeError(f"prompts={folder} is no folder: give one with files such as single.txt")
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise JudgeError(f"prompts={folder} has no templates: name them {', '.join(f'{name}.txt' for name in FIELDS)}")
    found = {}
    for file in files:
        if file.stem not in FIELDS:
            raise JudgeError(f"{file}: no prompt is named {file.stem!r}{suggest(file.stem, FIELDS)}")
        found[file.stem] = read_template(file, FIELDS[file.stem], NEEDED.get(file.stem, ()))
    return found
