"""Renders a memory as the text that the final judge reads."""

from collections.abc import Sequence

from judge_r1.core.memory import DocumentMemory, SectionNote
from judge_r1.judges.memo.metrics import Metric

NOT_GIVEN = "not given"


def render_report(memory: DocumentMemory, metrics: Sequence[Metric], *, by_tag: bool = False) -> str:
    """The report on a document, section by section, or with `by_tag` metric by metric and tag by tag."""
    parts = _tag_parts(memory, metrics) if by_tag else [_section(section, metrics) for section in memory.sections]
    return "\n\n".join(["=== Evaluation Report ===", *parts]) + "\n"


def _head(section: SectionNote) -> str:
    return f"Section {section.name} (Chars {section.start}–{section.end}):"


def _scores(section: SectionNote, metrics: Sequence[Metric]) -> list[str]:
    return [f"  - {metric.title}: {_number(section.scores.get(metric.name))}" for metric in metrics]


def _number(score: float | None) -> str:
    return NOT_GIVEN if score is None else str(float(score))


def _section(section: SectionNote, metrics: Sequence[Metric]) -> str:
    lines = [_head(section)]
    if section.summary:
        lines.append(f"Section Summary: {section.summary}")
    lines += ["Scores:", *_scores(section, metrics), "Issues:"]
    for metric in metrics:
        found = section.issues.get(metric.name, {})
        lines.append(f"  {metric.title} Issues:" + ("" if found else " None"))
        for tag, descriptions in found.items():
            lines += [f"    - {tag}:", *(f"        • {description}" for description in descriptions)]
    return "\n".join(lines)


def _tag_parts(memory: DocumentMemory, metrics: Sequence[Metric]) -> list[str]:
    parts = []
    for metric in metrics:
        by_tag: dict[str, list[str]] = {}
        for section in memory.sections:
            for tag, descriptions in section.issues.get(metric.name, {}).items():
                by_tag.setdefault(tag, []).extend(f"        • {section.name}: {text}" for text in descriptions)
        lines = [f"{metric.title} Issues:" + ("" if by_tag else " None")]
        for tag, notes in by_tag.items():
            lines += [f"    - {tag}:", *notes]
        parts.append("\n".join(lines))
    summaries = [f"{section.name}: {section.summary}" for section in memory.sections if section.summary]
    if summaries:
        parts.append("\n".join(["Section Summaries:", *summaries]))
    scores = [line for section in memory.sections for line in (_head(section), *_scores(section, metrics))]
    return [*parts, "\n".join(["=== Section Scores ===", *scores])]
