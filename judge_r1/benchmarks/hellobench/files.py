"""Reads a checkout of HelloBench in its original format: instructions with checklists, responses, judgements, and the
weights of checklists, which `judge-r1 fit-weights` writes as well."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, TypeAdapter, model_validator

from judge_r1.benchmarks.base import BadBenchmark, subset_options
from judge_r1.core.checklist import Checklist
from judge_r1.core.errors import invalid_as
from judge_r1.core.folders import lacks
from judge_r1.core.text_check import counted
from judge_r1.files.strict_json import parse_json, read_json
from judge_r1.files.tabular import Row, file_rows
from judge_r1.files.text_file import read_bytes
from judge_r1.files.yaml_config import ConfigModel

TASKS = {
    "open_ended_qa": "OEQA",
    "summarization": "Summ",
    "chat": "Chat",
    "text_completion": "TC",
    "heuristic_text_generation": "HTG",
}
"""The five tasks with their short names (Table 2)."""
CONSTRAINED = {
    f"heuristic_text_generation_{thousands}k": (f"HTG-{thousands}k", 1000 * thousands) for thousands in (2, 4, 8, 16)
}
"""Heuristic text generation with at least so many words (Table 3)."""
STEMS = {**TASKS, **{stem: name for stem, (name, _) in CONSTRAINED.items()}}
"""The short name of each file."""
RESULTS = "_results.jsonl"
LONG = "long enough"
AVERAGE = "average"
"""Equal weights: the average checklist (AVG-C)."""
RELEASED = "weighted_scores.txt"
"""The release's file: Python, one assignment of a dict."""
_SUMMARY_KINDS = {"academic article": "academic_article", "report": "report", "dialog": "long_dialogue", "news": "news"}


Experiment = Literal["main_exp", "longcontext_exp", "length_constrained_exp"]
EXPERIMENTS: tuple[Experiment, ...] = get_args(Experiment)


class HelloBenchOptions(ConfigModel):
    """What is judged and how it is scored."""

    parts: tuple[str, ...] = Field((), description="tasks and categories; empty for all")
    responses: Path | None = Field(
        None, description="a folder: the responses to judge, of one system or, in subfolders, of several"
    )
    exp: Experiment | None = Field(
        None, description="the release's experiment, without `responses`; the first one by default"
    )
    system: str | None = Field(None, description="this system only")
    weights: str | None = Field(
        None, description="a file, or `average` for equal weights; the release's if the checkout has them"
    )
    human: Path | None = Field(None, description="human annotations, for the correlation with the overall score")
    gold: Path | None = Field(
        None, description="judgements in the release's format, or an evaluation, to compare the item scores with"
    )
    references: Path | None = Field(
        None, description="JSON Lines of `id` and `reference`, for BLEU, ROUGE-L and METEOR"
    )
    perplexity: str | None = Field(
        None, description="a causal language model, for the perplexity of the texts (the paper's is gpt2-large)"
    )
    refusals: Path | None = Field(None, description="the first words of a refusal, one phrase on each line")
    against: str | None = Field(None, description="the system that others are compared with, for their win rates")
    legacy_join: bool = Field(False, description="show responses to the judge as the release did, without their layout")

    @model_validator(mode="after")
    def _one_source(self) -> "HelloBenchOptions":
        if self.exp and self.responses:
            raise ValueError("exp chooses among the released results; with responses it has no meaning")
        return self


def parse_options(text: str | None, unused: Mapping[str, str] = MappingProxyType({})) -> HelloBenchOptions:
    """The options of the text. `unused` says why some have no effect. Raises: BadBenchmark for one of them, and
    ConfigError."""
    options = subset_options(HelloBenchOptions, text, "hellobench")
    if given := options.model_fields_set & unused.keys():
        raise BadBenchmark(f"hellobench: {min(given)} {unused[min(given)]}: leave it out")
    return options


def generation_options(text: str | None) -> HelloBenchOptions:
    """The options that choose instructions. Raises: BadBenchmark for an option that is for the responses."""
    others = HelloBenchOptions.model_fields.keys() - {"exp", "parts"}
    return parse_options(text, dict.fromkeys(others, "is for `judge-r1 eval`"))


@dataclass(frozen=True)
class Instruction:
    """One instruction of one file (`stem`). `derived` marks a text that was made here from another file."""

    stem: str
    id: str
    category: str
    text: str
    checklist: Checklist
    derived: bool = False


@dataclass(frozen=True)
class Response:
    """One line of a results file; `row` has its other columns, and names it in messages."""

    stem: str
    id: str
    instruction: str
    text: str
    row: Row


def read_instructions(root: Path) -> dict[tuple[str, str], Instruction]:
    """The instructions in `data/`, by (stem, id). A checkout may lack files; it needs one. Missing files with a
    required length are derived from `heuristic_text_generation.jsonl`.

    Raises:
        BadBenchmark: There is none, or an id occurs twice.
        BadTable: A line is incomplete.
    """
    found: dict[tuple[str, str], Instruction] = {}
    for stem in STEMS:
        folder = "main_data" if stem in TASKS else "length_constrained_data"
        file = root / "data" / folder / f"{stem}.jsonl"
        for row in file_rows(file) if file.is_file() else ():
            key = stem, row.name("id")
            if key in found:
                raise row.error("id", f"repeats {key[1]!r}")
            questions = row.texts("checklists")
            if not questions or not all(question.strip() for question in questions):
                raise row.error("checklists", "must hold questions")
            found[key] = Instruction(*key, row.name("category"), row.text("instruction"), Checklist.of(questions))
    for stem, (_, least) in CONSTRAINED.items():
        if not any(key[0] == stem for key in found):
            found |= _constrained(stem, least, [i for key, i in found.items() if key[0] == "heuristic_text_generation"])
    if not found:
        raise BadBenchmark(f"{lacks(root, 'data/main_data/*.jsonl')}: give --path a checkout of Quehry/HelloBench")
    return found


def _constrained(stem: str, least: int, plain: Sequence[Instruction]) -> dict[tuple[str, str], Instruction]:
    """The instructions with a required length: the requirement to be "long enough" names a number of words (section
    4.3). Instructions without that requirement are left out, as in the release."""
    required = f"no shorter than {least} words"
    return {
        (stem, one.id): Instruction(stem, one.id, one.category, one.text.replace(LONG, required), one.checklist, True)
        for one in plain
        if one.text.count(LONG) == 1
    }


def read_responses(folder: Path) -> Iterator[Response]:
    """The lines of the results files of one system (`<stem>_results.jsonl`), or of one such file.

    Raises:
        BadBenchmark: There is no such file.
        BadTable: A line is incomplete, or a file has two lines for one id.
    """
    files = {name: folder / f"{name}{RESULTS}" for name in STEMS}
    if folder.is_file():
        name = folder.name.removesuffix(RESULTS)
        if name not in STEMS or name == folder.name:
            raise BadBenchmark(f"{folder} must be named TASK{RESULTS}, with TASK one of {', '.join(STEMS)}")
        files = {name: folder}
    present = {stem: file for stem, file in files.items() if file.is_file()}
    if not present:
        raise BadBenchmark(f"{lacks(folder, 'results of HelloBench')}: give a folder of files such as chat{RESULTS}")
    for stem, file in present.items():
        seen: set[str] = set()
        for row in file_rows(file):
            if (own := row.name("id")) in seen:
                raise row.error("id", f"repeats {own!r}")
            seen.add(own)
            yield Response(stem, own, row.text("instruction"), row.text("response"), row)


def systems_in(folder: Path) -> dict[str, Path]:
    """The systems of a folder: itself if it holds results files, else its subfolders that do. Raises: BadBenchmark."""
    if folder.is_file():
        return {folder.parent.name: folder}
    if any(folder.glob(f"*{RESULTS}")):
        return {folder.absolute().name: folder}
    found = {path.name: path for path in sorted(folder.glob("*")) if path.is_dir() and any(path.glob(f"*{RESULTS}"))}
    if not found:
        raise BadBenchmark(
            f"{lacks(folder, 'responses')}: give responses=FOLDER with files such as chat{RESULTS}, which "
            "`judge-r1 generate --benchmark hellobench` writes"
        )
    return found


def summary_checklists(root: Path) -> dict[str, Checklist]:
    """The checklists of the summaries by category, from `checklists/`; empty if the checkout lacks them."""
    file = root / "checklists" / "summarization_checklist.json"
    if not file.is_file():
        return {}
    return {str(name): Checklist.of(questions) for name, questions in read_json(file).items()}


def recovered(response: Response, checklists: Mapping[str, Checklist]) -> Instruction | None:
    """The instruction of a summary from its result, for checkouts without summarization.jsonl, which is larger than
    some hosts take. The first line names the category. None for other tasks."""
    if response.stem != "summarization" or not checklists:
        return None
    first = response.instruction.partition("\n")[0]
    category = next((kind for words, kind in _SUMMARY_KINDS.items() if words in first), "blogs")
    if category not in checklists:
        raise response.row.error("instruction", f"is about {category!r}, which summarization_checklist.json lacks")
    return Instruction("summarization", response.id, category, response.instruction, checklists[category])


def released_scores(row: Row, questions: int) -> list[float] | None:
    """The item scores of a released judgement by id; None where the release's own scoring skips the line: another
    number of scores, or a score outside [0, 1] (results/scripts/compute.py). Raises: BadTable for another layout."""
    given = row.value("checklist_wise_evaluation")
    if not isinstance(given, list) or not all(isinstance(answer, dict) for answer in given):
        raise row.wrong_type("checklist_wise_evaluation", "a list of answers")
    ids = [answer.get("checklist_id") for answer in given]
    known = [(name, answer) for name, answer in zip(ids, given, strict=True) if name in range(questions)]
    by_id = {name: answer.get("evaluation_score") for name, answer in known}
    scores = [by_id.get(number) for number in range(questions)]
    if len(given) != questions or not all(isinstance(score, int | float) and 0 <= score <= 1 for score in scores):
        return None
    return [float(score) for score in scores if score is not None]


Values = Annotated[tuple[Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)], ...], Field(min_length=1)]
_PLAIN: TypeAdapter[dict[str, Values]] = TypeAdapter(Annotated[dict[str, Values], Field(min_length=1)])


class CategoryWeights(BaseModel):
    """The weights of one category, which sum to 100, with 95 % intervals, and their fit."""

    weights: Values
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    raw_weights: tuple[float, ...] = ()
    r2: float | None = None
    mse: float | None = None
    n: int | None = None
    clusters: int | None = None
    rank: int | None = None
    at_bound: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    pooled: str | None = None


class WeightsFile(BaseModel):
    """The file of `judge-r1 fit-weights`."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotations: list[dict[str, str]] = []
    settings: dict[str, float | None] = {}
    rows: int = 0
    skipped: dict[str, int] = {}
    annotator_pearson: dict[str, dict[str, int | float | None]] = {}
    categories: dict[str, CategoryWeights] = Field(min_length=1)


@dataclass(frozen=True)
class Weights:
    """The weights of each category. `name` tells which they are, with the hash of their file, so that results made with
    different weights can be told apart. Without `values`, all questions of a checklist weigh the same."""

    name: str
    values: Mapping[str, tuple[float, ...]] | None = None

    def of(self, category: str, questions: int) -> tuple[float, ...]:
        """The weights of a category. Raises: BadBenchmark if they are missing or of another number."""
        if self.values is None:
            return (1.0,) * questions
        found = self.values.get(category)
        if found is None:
            raise BadBenchmark(f"the weights {self.name} have no category {category!r}: fit it, or use weights=average")
        if len(found) != questions:
            raise BadBenchmark(
                f"the weights {self.name} have {counted(len(found), 'value')} for category {category!r}, whose "
                f"checklist has {counted(questions, 'question')}"
            )
        return found


def read_weights(path: Path) -> Weights:
    """The weights in a file. Raises: BadBenchmark, BadJson."""
    data = read_bytes(path)
    value = _python(data, path) if path.suffix == ".txt" else parse_json(data, path)
    with invalid_as(BadBenchmark, path, "; it must hold an object with a list of weights for each category"):
        if isinstance(value, dict) and "categories" in value:
            values = {name: entry.weights for name, entry in WeightsFile.model_validate(value).categories.items()}
        else:
            values = _PLAIN.validate_python(value)
    return Weights(f"{path.name} {sha256(data).hexdigest()[:16]}", values)


def default_weights(root: Path) -> Weights:
    """The release's weights if they are in the checkout, else equal weights."""
    file = root / RELEASED
    return read_weights(file) if file.is_file() else Weights(AVERAGE)


def _python(data: bytes, path: Path) -> Any:
    """The dict that a Python file assigns."""
    try:
        (statement,) = ast.parse(data.decode("utf-8")).body
        return ast.literal_eval(statement.value)  # type: ignore[attr-defined]
    except (ValueError, SyntaxError, AttributeError, RecursionError, MemoryError):
        raise BadBenchmark(f"{path} is not one assignment of a dict of weights") from None
