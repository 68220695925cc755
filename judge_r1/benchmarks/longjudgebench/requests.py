"""How a query is asked: in which orders, and with which prompt, or as a comparison to be searched."""

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Protocol

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench import deep_research_bench, meta_analysis, real_dr, surge, verifybench, wp_bench
from judge_r1.benchmarks.longjudgebench.answer_parsers import Unread, Values, found_json, released_json
from judge_r1.benchmarks.longjudgebench.prompt_templates import filled, load_template, read_yaml
from judge_r1.benchmarks.longjudgebench.query import STATEMENTS, Query, judged
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.benchmarks.longjudgebench.surge import shown_order
from judge_r1.core.principles import GENERAL
from judge_r1.core.records import InvalidVerdict, Verdict
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

ASKED = {
    "DR": "Which research article answers the task better?",
    "RealDR": "Which report is better in logical structure, in expression and in freedom from bias?",
    "Structure": "Which survey of the topic is better structured: organisation, sections, titles that fit, coherence?",
    "Content": "Which survey of the topic reads better: coherence, clarity, fluency, logic?",
    "WP": "Which piece of writing answers the prompt better?",
    "Verify": "Is the final answer that the model gives, marked [A] in the case, correct?",
    "MA": "Which report presents the key findings of the meta-analysis more accurately and completely?",
}
"""What a comparison with search is about; the prompts of the other settings are the release's."""
_UNTOLD = ("RealDR", "Structure", "Content", "MA")
"""The columns whose prompts leave the task out."""


def orders_of(query: Query, options: SubsetOptions) -> list[Order]:
    """A pair in both orders; outputs scored one by one, or all in one listing; with search every two that are scored,
    in both orders."""
    if options.search:
        places = (0, 1) if query.column == "Verify" else judged(query, options.reference)
        return list(permutations(places, 2))
    if query.column in ("WP", "MA"):
        return [(0, 1), (1, 0)]
    if query.dataset == "surge":
        return [shown_order(query, options)]
    return [(place,) for place in range(len(query.systems))]


def prompted(query: Query, options: SubsetOptions, root: Path, order: Order) -> CustomPrompt:
    """The release's prompt of the setting. Raises BadBenchmark."""
    fields: dict[str, str | None] = {
        "instruction": query.instruction,
        "reference": query.reference,
        "criteria_list": None if options.paper else query.criteria_text,
        **{f"response_{at}": query.texts[place] for at, place in enumerate(order)},
    }
    if query.column == "WP" and options.rubric:
        fields["genre"], fields["genre_criteria"] = genre_of(root, query)
    lead = query.instruction if options.topic and query.column in _UNTOLD else ""
    template = load_template(root, query.dataset, mode_of(query, options))
    return CustomPrompt(filled(template, fields, paper=options.paper, lead=lead), answer_reader(query, options, order))


def mode_of(query: Query, options: SubsetOptions) -> str:
    """The name of the prompt's file, and of the file of answers to it."""
    prefix = {"Structure": "structure_", "Content": "content_", "MA": "insights_"}.get(query.column, "")
    return f"{prefix}{options.mode}"


def case_id(query: Query, order: Order) -> str:
    return f"{query.item_id}/{'-'.join(map(str, order))}"


def case_text(query: Query, options: SubsetOptions, order: Order) -> str:
    """What may be searched for that order: the outputs as shown, and the reference where the setting has one."""
    texts = [text for text in query.texts if text is not None]
    shown = texts if query.column == "Verify" else [texts[place] for place in order]
    parts = list(zip("AB", shown, strict=False))
    if options.reference and query.reference:
        parts.append(("REFERENCE", query.reference))
    return corpus(parts)


def searched(query: Query, options: SubsetOptions, order: Order, text: str) -> PairwiseTask:
    """The comparison of two outputs whose texts stand in the case alone."""
    decision = f"{ASKED[query.column]}\n\n{query.instruction}".strip()
    if options.reference:
        decision += "\n\nA reference stands in the case, marked [REFERENCE]."
    if query.column == "Verify":
        shown = [STATEMENTS[place] for place in order]
    else:
        shown = [stands_in_case(mark, query.texts[place] or "") for mark, place in zip("AB", order, strict=True)]
    return PairwiseTask(GENERAL, decision, shown[0], shown[1], case_id(query, order), text)


def genre_of(root: Path, query: Query) -> tuple[str, str]:
    """The genre of a WP prompt and its criteria. Raises BadBenchmark."""
    genres, folder = _genres(root), root / "config" / "prompts" / "wp_bench" / "rubric"
    if query.tag is None or query.tag not in genres:
        raise BadBenchmark(f"{folder}/tag_to_genre.json has no genre of tag {query.tag!r}, of {query.item_id}")
    genre = genres[query.tag]
    return genre, str(read_yaml(folder / f"genre_{genre}.yaml").get("genre_criteria", "")).strip("\n")


@lru_cache(maxsize=8)
def _genres(root: Path) -> dict[str, str]:
    path = root / "config" / "prompts" / "wp_bench" / "rubric" / "tag_to_genre.json"
    try:
        return {str(tag): str(genre) for tag, genre in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise BadBenchmark(f"{path} must be one JSON object of tags and genres ({error})") from None


def answerable(query: Query, options: SubsetOptions) -> bool:
    """Has the query what its setting shows? WP has no references, and SurGE's is one of the outputs."""
    if options.reference and query.column == "WP":
        return False
    return not options.reference or options.paper or query.reference is not None or query.dataset == "surge"


_HEADING = re.compile(r"^(?:#{1,6}\s+(.+?)|\\(?:sub)*section\*?\{(.+?)\})\s*$", re.MULTILINE)
_HEADINGS = 40


def corpus(parts: Iterable[tuple[str, str]]) -> str:
    """(mark, text) pairs as one text, a sentence a line."""
    return "\n".join(f"[{mark}] {text[start:end]}" for mark, text in parts for start, end in sentences(text))


def stands_in_case(mark: str, text: str) -> str:
    """What a prompt says of a text instead of showing it: where it is, how long, and its headings."""
    headings = [(match[1] or match[2]).strip() for match in _HEADING.finditer(text)]
    lead = (
        f"This text has {len(text)} characters. It is not shown here: its sentences stand in the case, each marked "
        f"[{mark}]; search for what you need of it."
    )
    if not headings:
        return lead
    count = f"{_HEADINGS} of {len(headings)} headings" if len(headings) > _HEADINGS else "headings"
    return f"{lead} Its {count}: {'; '.join(headings[:_HEADINGS])}"


def answer_reader(query: Query, options: SubsetOptions, order: Order) -> Callable[[str], Verdict]:
    """The parser of the answers to `query`, shown in that order. It never raises: an unreadable answer is an
    InvalidVerdict with a reason of `answer_parsers`."""
    dataset = DATASETS[query.dataset]

    def read(text: str) -> Verdict:
        try:
            values = released_json(text) if options.paper else found_json(text, *dataset.ANSWER_KEYS)
            return dataset.read_answer(values, query, options, order)
        except Unread as error:
            return InvalidVerdict(reason=str(error))

    return read
