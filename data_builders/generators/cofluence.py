"""CoFluEval-LC: long documents and their manipulated copies, at several lengths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from data_builders.generators import register
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.manipulation_dataset import ManipulationDataset
from data_builders.manipulations import MANIPULATIONS, SELECTED, CannotManipulate, Material
from data_builders.manipulations.corpus import STORIES, STORY_TOKENS, CorpusRules, read_folder, shorter, stories
from data_builders.manipulations.manipulate import manipulate, manipulated_prefix
from data_builders.manipulations.tagger import MODEL, Tagger
from data_builders.manipulations.units import Unit, prefix
from data_builders.teachers import Teacher
from judge_r1.core.documents import FULL, Document, ManipulatedDocument
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record, content_hash
from judge_r1.core.registry import suggest
from judge_r1.files.yaml_config import ConfigModel

Intensities = dict[str, float | tuple[float, ...]]
DONORS = 40
"""Other documents that each one may take paragraphs from: those behind it."""


class CofluenceOptions(ConfigModel):
    """The options of the generator."""

    types: str = Field(",".join(SELECTED), description="names of manipulations, separated by commas, or `all`")
    lengths: str = Field(f"{FULL},2000", description="`full` and numbers of space-separated tokens")
    density: Literal["constant", "legacy", "same_count"] = Field(
        "constant",
        description="the number of operations: proportional to the length; with the bias of the released data set; or "
        "that of the shortest text at every length",
    )
    short: Literal["fresh", "prefix"] = Field(
        "fresh", description="a short text is manipulated anew, or is the prefix of the manipulated full text"
    )
    spread: Literal["widespread", "dense"] = "widespread"
    unit: Unit = Field(
        "paragraph",
        description="what the operators on content move (11-14, 17), and what sentences are appended to (24)",
    )
    repeats: int = Field(1, ge=1, le=100, description="how often a repeated unit is added (14)")
    refill: bool = Field(False, description="a short text that lost units continues for as many tokens (12)")
    intensity: Intensities = Field(
        default_factory=dict,
        description="per manipulation, such as options.intensity.typos=4: per cent of its units, or operations per "
        "1,000 tokens; several as [2,4,8]",
    )
    tagger: str = Field(MODEL, description="the model of spaCy that finds verbs, names and sentences")
    clean: bool = Field(False, description="apply the cleaning steps for plain-text books")
    min_tokens: int = Field(1, ge=1)
    max_tokens: int = Field(1_000_000, ge=1)
    license: str = "unknown"
    from_year: int | None = Field(
        None, description="leave out texts before this year (metadata.csv: file, year, genre)"
    )
    without: str = Field("", description="leave out texts with these words in genre or title, such as poem,song,play")
    story_tokens: int = Field(
        STORY_TOKENS, ge=100, le=1_000_000, description="without path: the least length of the stories that are made"
    )

    @field_validator("types", "lengths", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """In YAML `lengths=2000` is a number, and `types=` is null."""
        return "" if value is None else str(value) if isinstance(value, int) else value

    @field_validator("types")
    @classmethod
    def _known_types(cls, types: str) -> str:
        if not _split(types):
            raise ValueError(f"no manipulation is named; available: all, {', '.join(MANIPULATIONS.names())}")
        for name in _split(types):
            if name != "all" and name not in MANIPULATIONS.names():
                raise ValueError(f"no manipulation is named {name!r}{suggest(name, MANIPULATIONS.names())}")
        return types

    @field_validator("lengths")
    @classmethod
    def _known_lengths(cls, lengths: str) -> str:
        found = _split(lengths)
        if odd := [one for one in found if one != FULL and not (one.isdecimal() and int(one))]:
            raise ValueError(f"lengths are {FULL} and numbers of tokens, not {odd[0]!r}")
        if FULL not in found:
            raise ValueError(f"lengths must name {FULL}: a short text is compared with its full text")
        return lengths

    @field_validator("intensity")
    @classmethod
    def _known_intensities(cls, intensity: Intensities) -> Intensities:
        for name, rates in intensity.items():
            if name not in MANIPULATIONS.names():
                raise ValueError(f"no manipulation is named {name!r}{suggest(name, MANIPULATIONS.names())}")
            found = rates if isinstance(rates, tuple) else (rates,)
            if not found or len(set(found)) < len(found):
                raise ValueError(f"the intensities of {name} must be different numbers")
            for rate in found:
                if not 0 < rate <= 1000:
                    raise ValueError(f"the intensity of {name} must be above 0, not {rate:g}")
        return intensity

    def rates(self, name: str, default: float) -> Sequence[float]:
        """The intensities of a manipulation."""
        found = self.intensity.get(name, default)
        return found if isinstance(found, tuple) else (found,)

    @property
    def names(self) -> Sequence[str]:
        return MANIPULATIONS.names() if "all" in _split(self.types) else _split(self.types)

    @property
    def tokens(self) -> list[int]:
        """The short lengths, in order."""
        return sorted(int(one) for one in set(_split(self.lengths)) if one != FULL)


@dataclass(frozen=True)
class Neighbours:
    """A document and the ones that it may take paragraphs from."""

    document: Document
    donors: Sequence[str]


@register
class Cofluence(Generator[Neighbours]):
    """Long documents (a folder of .txt and .md files, or stories made here) with known degradations."""

    name = "cofluence"
    dataset = ManipulationDataset()
    options = CofluenceOptions
    unused = ("kinds", "variants")

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        of_stories, of_folders = (
            {"story_tokens"},
            {"clean", "min_tokens", "max_tokens", "license", "from_year", "without"},
        )
        if given := self.own.model_fields_set & (of_stories if plan.path else of_folders):
            other = "stories, and path gives documents" if plan.path else "documents, and there is no path"
            raise JudgeError(f"options.{min(given)} is for {other}: leave it out")
        self._tagger, self._broken = Tagger(self.own.tagger), 0
        needed = any(MANIPULATIONS.get(name).needs_tagger for name in self.own.names)
        self._named = {"tagger": self._tagger.name if needed else None}

    def items(self) -> Iterator[Neighbours]:
        plan, own = self.plan, self.own
        if plan.path is None:
            documents = list(stories(plan.limit or STORIES, own.story_tokens, plan.seed))
        else:
            kinds = tuple(_split(own.without))
            rules = CorpusRules(own.clean, own.min_tokens, own.max_tokens, own.license, own.from_year, kinds)
            documents = _sample(list(read_folder(plan.path, rules, self.skipped)), plan.limit, plan.seed)
        for at, document in enumerate(documents):
            others = [*documents[at + 1 :], *documents[:at]][:DONORS]
            yield Neighbours(document, [other.text for other in others])

    def generate(self, item: Neighbours) -> RecordGroup:
        texts, whole = [item.document], item.document.text
        for tokens in reversed(self.own.tokens):
            text = prefix(whole, tokens)
            if len(text) < len(whole):
                texts.append(shorter(item.document, text, tokens))
            else:
                self.abstained[f"a document is not longer than {tokens} tokens"] += 1
        materials = [
            Material(document.text, self._tagger, item.donors, self.own.unit, whole[len(document.text) :])
            for document in texts
        ]
        records: list[Record] = list(texts)
        for name in self.own.names:
            for rate in self.own.rates(name, MANIPULATIONS.get(name).intensity):
                records += self._manipulated(name, rate, texts, materials)
        return RecordGroup(records)

    def _manipulated(
        self, name: str, rate: float, texts: Sequence[Document], materials: Sequence[Material]
    ) -> Iterator[ManipulatedDocument]:
        """The document at every length with one manipulation at one intensity."""
        own, operator = self.own, MANIPULATIONS.get(name)
        whole: ManipulatedDocument | None = None
        for document, material in zip(texts, materials, strict=True):
            try:
                count = operator.count(materials[-1], rate) if own.density == "same_count" else None
                if whole is not None and own.short == "prefix":
                    yield manipulated_prefix(document, whole)
                    continue
                record = manipulate(
                    document,
                    operator,
                    material,
                    seed=self.plan.seed,
                    intensity=rate,
                    legacy=own.density == "legacy",
                    count=count,
                    spread=own.spread,
                    repeats=own.repeats,
                    refill=own.refill,
                )
            except CannotManipulate as reason:
                self.abstained[f"{name}: {reason}"] += 1
                continue
            whole = whole or record
            yield record

    def add(self, group: RecordGroup) -> None:
        lead = group.records[0]
        self._broken += isinstance(lead, Document) and "broken_characters" in lead.meta

    def details(self) -> dict[str, Any]:
        return {"documents_with_broken_characters": self._broken} if self._broken else {}

    def settings(self) -> dict[str, Any]:
        plan = self.plan
        given = {"path": plan.path_name, "limit": plan.limit, "options": plan.options}
        used = self.own.model_dump(mode="json") | self._named
        return {**super().settings(), **given, "settings": used}


def _split(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _sample(documents: list[Document], limit: int | None, seed: int) -> list[Document]:
    """`limit` documents drawn by `seed`, in their order; never by what a judge says about them."""
    drawn = sorted(documents, key=lambda document: content_hash(seed, document.document_id))[:limit]
    chosen = {document.document_id for document in drawn}
    return [document for document in documents if document.document_id in chosen]
