"""Builds the requests of a query: presentation orders, the release's prompts, and comparisons with search."""

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Protocol

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench import deep_research_bench, meta_analysis, real_dr, surge, verifybench, wp_bench
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, Values, find_json, released_json
from judge_r1.benchmarks.longjudgebench.prompt_templates import fill_template, load_template, read_yaml
from judge_r1.benchmarks.longjudgebench.query import STATEMENTS, Query, scored_indices
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.longjudgebench.surge import shown_order
from judge_r1.core.principles import GENERAL
from judge_r1.core.verdicts import InvalidVerdict, Verdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.request import CustomPrompt
from retrieval.passages import sentences


class Dataset(Protocol):
    """A module that reads one data set of the benchmark."""

    DATASET: str
    ANSWER_KEYS: tuple[str, ...]

    def read(self, root: Path, options: SubsetOptions) -> list[Query]: ...

    def read_answer(self, values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict: ...


_MODULES: tuple[Dataset, ...] = (deep_research_bench, real_dr, surge, wp_bench, verifybench, meta_analysis)
DATASETS = {module.DATASET: module for module in _MODULES}

QUESTIONS = {
    "DR": "Which research article answers the task better?",
    "RealDR": "Which report is better in logical structure, in expression and in freedom from bias?",
    "Structure": "Which survey of the topic is better structured: organisation, sections, titles that fit, coherence?",
    "Content": "Which survey of the topic reads better: coherence, clarity, fluency, logic?",
    "WP": "Which piece of writing answers the prompt better?",
    "Verify": "Is the final answer that the model gives, marked [A] in the case, correct?",
    "MA": "Which report presents the key findings of the meta-analysis more accurately and completely?",
}
"""The question of a comparison with search. The other settings use the release's prompts."""
_TASKLESS_COLUMNS = ("RealDR", "Structure", "Content", "MA")
"""Columns whose prompts do not contain the task."""


def orders_of(query: Query, options: SubsetOptions) -> list[Order]:
    """Pairs in both orders, one listing, or each output alone; with search, pairs of scored outputs in both orders."""
    if options.search:
        indices = (0, 1) if query.column == "Verify" else scored_indices(query, options.reference)
        return list(permutations(indices, 2))
    if query.column in ("WP", "MA"):
        return [(0, 1), (1, 0)]
    if query.dataset == "surge":
        return [shown_order(query, options)]
    return [(index,) for index in range(len(query.systems))]


def prompt_task(query: Query, options: SubsetOptions, root: Path, order: Order) -> CustomPrompt:
    """The release's prompt for the setting. Raises BadBenchmark."""
    fields: dict[str, str | None] = {
        "instruction": query.instruction,
        "reference": query.reference,
        "criteria_list": None if options.paper else query.criteria_text,
        **{f"response_{position}": query.texts[index] for position, index in enumerate(order)},
    }
    if query.column == "WP" and options.rubric:
        fields["genre"], fields["genre_criteria"] = genre_of(root, query)
    lead = query.instruction if options.topic and query.column in _TASKLESS_COLUMNS else ""
    template = load_template(root, query.dataset, mode_of(query, options))
    return CustomPrompt(
        fill_template(template, fields, paper=options.paper, lead=lead), answer_reader(query, options, order)
    )


def mode_of(query: Query, options: SubsetOptions) -> str:
    """The stem of the prompt file and of the file of its answers."""
    prefix = {"Structure": "structure_", "Content": "content_", "MA": "insights_"}.get(query.column, "")
    return f"{prefix}{options.mode}"


def case_id(query: Query, order: Order) -> str:
    return f"{query.item_id}/{'-'.join(map(str, order))}"


def case_text(query: Query, options: SubsetOptions, order: Order) -> str:
    """The text to search: the outputs in presentation order, and the reference if the setting has one."""
    texts = [text for text in query.texts if text is not None]
    shown = texts if query.column == "Verify" else [texts[index] for index in order]
    parts = list(zip("AB", shown, strict=False))
    if options.reference and query.reference:
        parts.append(("REFERENCE", query.reference))
    return tagged_sentences(parts)


def search_task(query: Query, options: SubsetOptions, order: Order, text: str) -> PairwiseTask:
    """Compares two outputs whose texts are only in the case, not in the prompt."""
    decision = f"{QUESTIONS[query.column]}\n\n{query.instruction}".strip()
    if options.reference:
        decision += "\n\nThe case contains a reference, marked [REFERENCE]."
    if query.column == "Verify":
        shown = [STATEMENTS[index] for index in order]
    else:
        shown = [describe_hidden_text(mark, query.texts[index] or "") for mark, index in zip("AB", order, strict=True)]
    return PairwiseTask(GENERAL, decision, shown[0], shown[1], case_id(query, order), text)


def genre_of(root: Path, query: Query) -> tuple[str, str]:
    """(genre, criteria) of a WP prompt. Raises BadBenchmark."""
    genres, folder = _genres(root), root / "config" / "prompts" / "wp_bench" / "rubric"
    if query.tag is None or query.tag not in genres:
        raise BadBenchmark(f"{folder}/tag_to_genre.json has no genre for tag {query.tag!r} of {query.item_id}")
    genre = genres[query.tag]
    return genre, str(read_yaml(folder / f"genre_{genre}.yaml").get("genre_criteria", "")).strip("\n")


@lru_cache(maxsize=8)
def _genres(root: Path) -> dict[str, str]:
    path = root / "config" / "prompts" / "wp_bench" / "rubric" / "tag_to_genre.json"
    try:
        return {str(tag): str(genre) for tag, genre in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise BadBenchmark(f"{path} must be a JSON object that maps tags to genres ({error})") from None


def has_required_texts(query: Query, options: SubsetOptions) -> bool:
    """Whether the query has the reference that its setting shows. WP has none; SurGE's is one of the outputs."""
    if options.reference and query.column == "WP":
        return False
    return not options.reference or options.paper or query.reference is not None or query.dataset == "surge"


_HEADING = re.compile(r"^(?:#{1,6}\s+(.+?)|\\(?:sub)*section\*?\{(.+?)\})\s*$", re.MULTILINE)
_HEADINGS = 40


def tagged_sentences(parts: Iterable[tuple[str, str]]) -> str:
    """(mark, text) pairs as one text, one sentence per line, each with its mark."""
    return "\n".join(f"[{mark}] {text[start:end]}" for mark, text in parts for start, end in sentences(text))


def describe_hidden_text(mark: str, text: str) -> str:
    """Describes a text that the prompt does not show: its mark in the case, its length and its headings."""
    headings = [(match[1] or match[2]).strip() for match in _HEADING.finditer(text)]
    lead = (
        f"This text has {len(text)} characters. It is not shown here. The case contains its sentences, each marked "
        f"[{mark}]; search for the parts you need."
    )
    if not headings:
        return lead
    count = f"{_HEADINGS} of {len(headings)} headings" if len(headings) > _HEADINGS else "headings"
    return f"{lead} Its {count}: {'; '.join(headings[:_HEADINGS])}"


def answer_reader(query: Query, options: SubsetOptions, order: Order) -> Callable[[str], Verdict]:
    """The parser of answers to `query` in that order. It never raises: an unreadable answer becomes an InvalidVerdict
    with a reason from `answer_parsers`."""
    dataset = DATASETS[query.dataset]

    def read(text: str) -> Verdict:
        try:
            values = released_json(text) if options.paper else find_json(text, *dataset.ANSWER_KEYS)
            return dataset.read_answer(values, query, options, order)
        except UnreadableAnswer as error:
            return InvalidVerdict(reason=str(error))

    return read
