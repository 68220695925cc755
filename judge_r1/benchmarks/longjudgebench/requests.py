"""Builds the requests of a query: presentation orders, the release's prompts, and comparisons with search."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench import deep_research_bench, labelled_sets, real_dr, surge
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, Values, find_json, released_json
from judge_r1.benchmarks.longjudgebench.prompt_templates import fill_template, genre_of, load_template
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, LETTERS, STATEMENTS, Query, scored_indices
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.longjudgebench.surge import shown_order
from judge_r1.core.principles import GENERAL
from judge_r1.core.verdicts import InvalidVerdict, Verdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.request import CustomPrompt
from retrieval.passages import sentences


@dataclass(frozen=True)
class Dataset:
    """Reads the queries of one data set, and the answers to them: JSON objects with some of `answer_keys`."""

    read: Callable[[Path, SubsetOptions], list[Query]]
    read_answer: Callable[[Values, Query, SubsetOptions, Order], Verdict]
    answer_keys: tuple[str, ...]


DATASETS = {
    "deepresearch_bench": Dataset(
        deep_research_bench.read,
        deep_research_bench.read_answer,
        ("overall_score", *deep_research_bench.DIMENSIONS),
    ),
    "realdr": Dataset(real_dr.read, real_dr.read_answer, ("overall_score", *real_dr.DIMENSIONS)),
    "surge": Dataset(surge.read, surge.read_answer, tuple(LETTERS)),
    "wp_bench": Dataset(labelled_sets.read_wp, labelled_sets.wp_answer, ("preferred_response",)),
    "verify_bench_hard": Dataset(labelled_sets.read_verify, labelled_sets.verify_answer, ("verdict", "score")),
    "ma": Dataset(labelled_sets.read_ma, labelled_sets.ma_answer, ("preferred_insights_consistency",)),
}


def orders_of(query: Query, options: SubsetOptions) -> list[Order]:
    """Pairs in both orders, one listing, or each output alone; with search, pairs of scored outputs in both orders."""
    if options.search:
        indices = (0, 1) if query.column == "Verify" else scored_indices(query, options.reference)
        return list(permutations(indices, 2))
    if query.protocol == "pairwise":
        return [(0, 1), (1, 0)]
    if query.protocol == "listwise":
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
        fields["genre"], fields["genre_criteria"] = genre_of(root, query.tag, query.item_id)
    lead = query.instruction if options.topic and not COLUMNS[query.column].prompt_has_task else ""
    template = load_template(root, query.dataset, f"{COLUMNS[query.column].prompt_prefix}{options.mode}")
    return CustomPrompt(
        fill_template(template, fields, paper=options.paper, lead=lead), answer_reader(query, options, order)
    )


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
    decision = f"{COLUMNS[query.column].question}\n\n{query.instruction}".strip()
    if options.reference:
        decision += "\n\nThe case contains a reference, marked [REFERENCE]."
    if query.column == "Verify":
        shown = [STATEMENTS[index] for index in order]
    else:
        shown = [describe_hidden_text(mark, query.texts[index] or "") for mark, index in zip("AB", order, strict=True)]
    return PairwiseTask(GENERAL, decision, shown[0], shown[1], case_id(query, order), text)


def has_required_texts(query: Query, options: SubsetOptions) -> bool:
    """Whether the query has the reference that its setting shows. WP has none; SurGE's is one of the outputs."""
    if not options.reference:
        return True
    return query.column != "WP" and (options.paper or query.reference is not None or query.protocol == "listwise")


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
            values = released_json(text) if options.paper else find_json(text, *dataset.answer_keys)
            return dataset.read_answer(values, query, options, order)
        except UnreadableAnswer as error:
            return InvalidVerdict(reason=str(error))

    return read
