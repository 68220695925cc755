"""Parses the output of DeepReviewer: a review in sections inside `\\boxed_review{…}`, after the model's thoughts."""

import re

from data_builders.sources.review_steps import review_steps

ARGUED = ("summary", "strengths", "weaknesses", "suggestions", "questions")
_BOX = "\\boxed_review{"
_SECTION = re.compile(r"^#{1,4}[ \t]*([A-Za-z]+)[ \t]*:?[ \t]*$", re.M)


def review_sections(output: str) -> dict[str, str]:
    """The sections of the last boxed review by lower-case name; empty if there is none."""
    _, box, review = output.rpartition(_BOX)
    if not box:
        return {}
    review = review.rsplit("\n}", 1)[0] if "\n}" in review else review.rstrip().removesuffix("}")
    parts = _SECTION.split(review)
    return {name.lower(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def review_of(sections: dict[str, str]) -> list[str]:
    """The sections with arguments as steps. The first step of a section begins with its name."""
    nodes = []
    for name in ARGUED:
        if body := sections.get(name, ""):
            nodes.append({"ntype": "p", "content": f"{name.capitalize()}:"})
            nodes += [{"ntype": "list", "content": part} for part in re.split(r"\n\s*\n", body) if part.strip()]
    steps, _ = review_steps(nodes, "review")
    return steps


def verdict(decision: str) -> str | None:
    """`accept`, `reject`, or None if a decision is neither."""
    found = {word for word in ("accept", "reject") if word in decision.lower()}
    return found.pop() if len(found) == 1 else None
