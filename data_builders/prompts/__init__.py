"""Fills the prompt templates of the builders: `$name` fields in the `*.txt` files of this package.

The structure follows Tables 9 and 10 of the paper. What changes between calls comes last, so that all calls on a case
share the vendor's prompt cache.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from data_builders.domain_wording import domain_text
from judge_r1.core.principles import PRINCIPLES, by_number
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair

HOW = {
    1: "draw a conclusion that does not follow, or let a step contradict another one",
    2: "state something that the case contradicts: another value, date, person, finding or order of events",
    3: "let a judgement lean on a trait that has no bearing on it, such as origin, sex, age, wealth or standing",
    4: "state as given a concrete detail of which the case says nothing at all",
    5: "put something vague, evasive or beside the point where the reader had an explanation or advice to use",
    6: "advise, excuse or approve of something unsafe, unethical or harmful to those concerned",
}
"""How a principle is violated, worded so that the principles do not overlap."""
_TAGS = ("case", "decision", "reasoning", "reasoning_a", "reasoning_b")

_COMPLETION_TAGS = ("facts", "articles", "paper", "review")


@cache
def template(name: str) -> Template:
    """The template of a file, without surrounding line ends."""
    return Template((files(__package__) / f"{name}.txt").read_text(encoding="utf-8").strip("\n"))


def fill(name: str, fields: Mapping[str, str]) -> str:
    """A template with all fields filled. Raises: KeyError for a missing field."""
    return template(name).substitute(fields)


def guard(text: str, *tags: str) -> str:
    """Untrusted text with look-alike brackets in place of the given tags, which delimit parts of the prompt."""
    return re.sub(rf"<(/?(?:{'|'.join(tags)}))>", r"‹\1›", text)


def single_prompt(case: Case, principle: int, wanted: Sequence[int], earlier: str = "") -> tuple[str, str]:
    """(system, user) that requests the variants numbered `wanted`, one flaw each (Table 9)."""
    target = by_number(principle)
    form = "\n\n".join(f"Flawed Variant {k}:\n(its whole text)" for k in wanted)
    fields = {"number": str(principle), "principle": target.name, "definition": target.definition}
    return _variants_prompt(case, "single", wanted, earlier, form, fields | {"how": HOW[principle]})


def multi_prompt(case: Case, wanted: Sequence[int], earlier: str = "") -> tuple[str, str]:
    """(system, user) that requests the variants numbered `wanted`, two or more flaws each (Table 10)."""
    form = "\n\n".join(f"Flawed Variant {k}:\nViolated Principles: [numbers]\n(its whole text)" for k in wanted)
    return _variants_prompt(case, "multi", wanted, earlier, form, {"principles": _principles()})


def again(rejected: Mapping[int, str], taken: Sequence[str]) -> str:
    """The paragraph for a further round: why variants were rejected, and what accepted ones have used up."""
    lines = "\n".join(f"- Flawed Variant {k}: {why}" for k, why in sorted(rejected.items()))
    used = "\n".join(["Accepted variants have used up:", *(f"- {what}" for what in taken)]) if taken else ""
    return "\n" + fill("again", {"rejected": lines, "taken": used}).strip("\n") + "\n"


def verifier_prompt(case: Case, pair: ReasoningPair) -> tuple[str, str]:
    """(system, user) that asks which of two reasonings is worse, and why. It does not depend on the label."""
    text = domain_text(case.domain)
    shown = {
        name: guard(value, *_TAGS)
        for name, value in (
            ("context", case.context),
            ("decision", case.decision),
            ("reasoning_a", pair.reasoning_a),
            ("reasoning_b", pair.reasoning_b),
        )
    }
    fields = {**shown, "decision_name": text.decision_name, "principles": _principles()}
    return fill("verifier_system", {"role": text.role}), fill("verifier", fields)


def completion_prompt(
    name: str, domain: str, material: Mapping[str, str], wanted: Mapping[str, str | int]
) -> tuple[str, str]:
    """(system, user) of the templates `name`_system and `name`, by which a teacher completes a case. `material` is
    untrusted text, in which tags are neutralised; `wanted` is trusted."""
    shown = {field: guard(text, *_COMPLETION_TAGS) for field, text in material.items()}
    system = fill(f"{name}_system", {"role": domain_text(domain).role})
    return system, fill(name, {**shown, **{field: str(value) for field, value in wanted.items()}})


@cache
def prompts_hash() -> str:
    """The hash of all templates and their constant fields, recorded with the data."""
    names = ("teacher_system", "material", "single", "multi", "again", "verifier_system", "verifier")
    return content_hash([template(name).template for name in names], HOW, _principles())


def _variants_prompt(
    case: Case, name: str, wanted: Sequence[int], earlier: str, form: str, fields: dict[str, str]
) -> tuple[str, str]:
    text = domain_text(case.domain)
    shown = {"context": case.context, "decision": case.decision, "reference": case.reference}
    material = fill("material", {k: guard(v, *_TAGS) for k, v in shown.items()} | {"decision_name": text.decision_name})
    count = "1 flawed variant" if len(wanted) == 1 else f"{len(wanted)} flawed variants"
    fields |= {"material": material, "decision_name": text.decision_name, "count": count}
    return fill("teacher_system", {"role": text.role}), fill(name, fields | {"earlier": earlier, "form": form})


def _principles() -> str:
    return "\n".join(f"{p.number}. {p.name}: {p.definition}" for p in PRINCIPLES)
