"""Builds the prompts of the judge of long documents. Texts are inserted as untrusted parts of a `Prompt`."""

from collections.abc import Sequence

from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.tags import escape_tags
from judge_r1.judges.memo.config import PromptForm
from judge_r1.judges.memo.metrics import Metric

ROLE = "You are an experienced annotator who rates texts."
SUMMARIZER = (
    "You write summaries. They are clear and short, in plain language, without repetition, and contain nothing that "
    "the text does not say."
)
EXCERPT = (
    "The text is an excerpt of a longer document. What it refers to may stand outside of it, so do not count it as a "
    "problem that the excerpt starts or ends abruptly. Rate the excerpt for itself."
)
CONTEXT_RULE = "The context is for understanding only: do not rate it, and report no problems in it."
SECTION_SUMMARY_SENTENCES = "4 or 5 sentences"
DOCUMENT_SUMMARY_SENTENCES = "25 to 35 sentences, about 512 tokens"


class PromptWriter:
    """Collects the parts of one user message."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._inserted: dict[str, str] = {}

    def add(self, *paragraphs: str) -> None:
        """Trusted text."""
        self._parts += [paragraph for paragraph in paragraphs if paragraph]

    def insert(self, title: str, text: str) -> None:
        """Untrusted text between marks, under a title."""
        mark = f"\ue000{len(self._inserted)}\ue001"
        self._inserted[title] = text
        self._parts.append(f"{title}:\n<<<\n{mark}\n>>>")

    def prompt(self, system: str) -> Prompt:
        return Prompt(
            messages=(Message("system", system), Message("user", "\n\n".join(self._parts))),
            inserted=tuple(escape_tags(text) for text in self._inserted.values()),
            names=tuple(self._inserted),
        )


def rating_prompt(
    text: str,
    metrics: Sequence[Metric],
    form: PromptForm,
    *,
    task: str = "",
    excerpt: bool = False,
    context: str | None = None,
    summary: str | None = None,
) -> Prompt:
    """The prompt to rate a document, or a section of it.

    `excerpt` says that the text is part of a longer one (the context-aware form). `context` is the end of the section
    before, and `summary` its summary. `task` is what the text was written for.
    """
    writer = PromptWriter()
    writer.add(f"Rate the text below for {_names(metrics)}. {_scale(form)}")
    if excerpt:
        writer.add(EXCERPT)
    writer.add(*_procedure(metrics, form))
    writer.add(*_criteria(metrics, form))
    if task.strip():
        writer.insert("What the text was written for", task)
    if summary is not None:
        writer.insert("Context: summary of the section before", summary)
    if context is not None:
        writer.insert("Context: end of the section before", context)
    if summary is not None or context is not None:
        writer.add(CONTEXT_RULE)
    writer.insert("Text", text)
    writer.add(_layout(metrics, form))
    return writer.prompt(ROLE)


def summary_prompt(text: str, *, whole: bool) -> Prompt:
    """The prompt to summarise a section, or with `whole` a document."""
    writer = PromptWriter()
    length = DOCUMENT_SUMMARY_SENTENCES if whole else SECTION_SUMMARY_SENTENCES
    writer.add(f"Summarise the text below in {length}. Write the summary alone.")
    writer.insert("Text", text)
    return writer.prompt(SUMMARIZER)


def final_prompt(
    report: str,
    metrics: Sequence[Metric],
    form: PromptForm,
    *,
    document: str | None = None,
    summary: str | None = None,
    task: str = "",
) -> Prompt:
    """The prompt to rate a document by the report on its sections, with the document or its summary if given."""
    writer = PromptWriter()
    writer.add(
        f"A long document was rated section by section. Rate the whole document for {_names(metrics)}. {_scale(form)}",
        "Read the report. Look for problems that recur and for serious ones, and weigh those most that hurt the "
        "document most. Do not just average the scores of the sections.",
    )
    writer.add(*_criteria(metrics, form))
    if task.strip():
        writer.insert("What the document was written for", task)
    writer.insert("Report", report)
    if summary is not None:
        writer.insert("Summary of the document", summary)
    if document is not None:
        writer.insert("Document", document)
    writer.add("Answer with these lines alone:", "\n".join(_final_lines(metrics)))
    return writer.prompt(ROLE)


def pair_prompt(
    reports: Sequence[str],
    metrics: Sequence[Metric],
    form: PromptForm,
    *,
    documents: Sequence[str] = (),
    summaries: Sequence[str] = (),
    task: str = "",
) -> Prompt:
    """The prompt to compare two documents by the reports on their sections, with both documents or their summaries if
    given."""
    writer = PromptWriter()
    writer.add(
        f"Two long documents, A and B, were rated section by section for {_names(metrics)}. Decide which one is better "
        "on the whole. Look for problems that recur and for serious ones in each report, and compare them.",
    )
    writer.add(*_criteria(metrics, form))
    if task.strip():
        writer.insert("What the documents were written for", task)
    for title, texts in (("Report on", reports), ("Summary of", summaries), ("Text of", documents)):
        for name, text in zip("AB", texts, strict=False):
            writer.insert(f"{title} document {name}", text)
    names = " | ".join(metric.title for metric in metrics)
    writer.add(
        "Answer with these two lines alone:",
        f"FINAL Better: A | B | tie\nFINAL Worse In: {names} (those in which the other document is worse; or none)",
    )
    return writer.prompt(ROLE)


def _names(metrics: Sequence[Metric]) -> str:
    titles = [metric.title for metric in metrics]
    return titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"


def _scale(form: PromptForm) -> str:
    return "Scores go from 1 (worst) to 5 (best)" + ("; half points are allowed." if form.half_points else ".")


def _procedure(metrics: Sequence[Metric], form: PromptForm) -> list[str]:
    name_problems = (
        "" if form.problems == "none" else f"Name {_WHICH[form.which]} for each metric: {_how(metrics, form)}."
    )
    if not form.layout:
        own = "Derive 5 to 15 finer criteria from the definitions, and rate the text by all of them together."
        return [name_problems, own if form.own_criteria else ""]
    steps = [
        "Read the text, and find and sum up its problems for yourself, metric by metric."
        if form.which == "serious"
        else "Read the text.",
        name_problems,
        "Give each metric its score.",
    ]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return [f"Proceed as follows:\n{numbered}", "Write no introduction and no conclusion, and do not correct the text."]


_WHICH = {"all": "the problems", "summary": "the problems, summed up", "serious": "only the most serious problems"}


def _how(metrics: Sequence[Metric], form: PromptForm) -> str:
    """The form that problems take."""
    if form.problems == "explained":
        return "in a short explanation"
    if form.problems == "listed":
        return "one short bullet for each"
    if form.problems == "by_aspect":
        return "one short bullet for each, which names the aspect that it concerns"
    tags = list(dict.fromkeys(tag for metric in metrics for tag in metric.tags))
    such_as = f" such as {', '.join(tags)}; choose another one where none fits" if tags else ""
    return f"one bullet for each, `- [TAG] description`, with a label in capitals{such_as}"


def _criteria(metrics: Sequence[Metric], form: PromptForm) -> list[str]:
    """One block for each metric; with anchors apart, a block of anchors for each behind all of them."""
    blocks = []
    for metric in metrics:
        lines = [f"{metric.title}: {metric.definition}"]
        if form.criteria == "details":
            lines += [f"- {detail}" for detail in metric.details]
        if form.anchors == "with_criteria":
            lines += _anchors(metric)
        blocks.append("\n".join(lines))
    if form.anchors == "apart":
        blocks += ["\n".join([f"Scores of {metric.title}:", *_anchors(metric)]) for metric in metrics if metric.anchors]
    return blocks


def _anchors(metric: Metric) -> list[str]:
    return [f"Score {5 - position}: {anchor}" for position, anchor in enumerate(metric.anchors or ())]


_BULLETS = {"explained": "explanation", "listed": "- description", "tagged": "- [TAG] description"}
"""The line under each metric in the layouts of the forms that have one."""


def _layout(metrics: Sequence[Metric], form: PromptForm) -> str:
    if not form.layout:
        return "End with these lines:\n" + "\n".join(_final_lines(metrics))
    parts = [f"{metric.title} Issues:\n{_BULLETS[form.problems]}" for metric in metrics] + _final_lines(metrics)
    return "Answer in this form:\n" + "\n".join(f"{number}) {part}" for number, part in enumerate(parts, 1))


def _final_lines(metrics: Sequence[Metric]) -> list[str]:
    """Scores are read by the name of their metric, so their order does not matter."""
    return [score_line(metric, "x") for metric in metrics]


def score_line(metric: Metric, score: str) -> str:
    """The line of an answer that gives a score."""
    return f"FINAL {metric.title} Score: {score}"
