"""The interface of generators, and the options of a build."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import Field, field_validator

from data_builders.dataset_type import DatasetType, RecordCounts, RecordFile
from data_builders.rejection_report import why_nothing
from data_builders.teachers import REFUSED, Attempts, BudgetSpent, Teacher
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted, reasons
from judge_r1.files.yaml_config import ConfigModel, validated

T = TypeVar("T")
Kind = Literal["single", "multi"]
KINDS: tuple[Kind, ...] = get_args(Kind)
RULES_VERSION = 7
"""Version of the rules for corpora. A build by other rules is another build."""


class NoOptions(ConfigModel):
    """The options of a generator without any."""


class BuildPlan(ConfigModel):
    """The options that the data depends on, apart from the teacher's answers."""

    source: str = Field(description="the corpus, or the generator, of the list above")
    path: Path | None = Field(None, description="the corpus: its folder, a file, or hub:OWNER/NAME")
    limit: int | None = Field(None, ge=1, description="maximum number of cases; default: all")
    seed: int = Field(0, description="same seed, same bytes")
    kinds: tuple[Kind, ...] = Field(KINDS, min_length=1, description="flaws against one principle, or several at once")
    variants: int = Field(5, ge=1, description="flawed variants per case and principle (the paper's K)")
    options: dict[str, Any] = Field({}, description="those of one generator, such as options.lengths=full,2000")
    candidates: int | None = Field(
        None,
        ge=1,
        description="variants of each principle that a teacher is asked for, to choose `variants` of them; default: no "
        "choice",
    )
    keep: Literal["agreed", "all"] = Field(
        "agreed", description="pairs that stay: those that the verifier confirms, or all"
    )
    per_principle: int | None = Field(
        None, ge=1, description="go on over the cases until each principle, and multi, has N pairs, or the budget ends"
    )
    prompts: Path | None = Field(
        None, description="folder with your own templates of the teacher's prompts; `paper` inserts all flaws"
    )
    early_stop: bool = Field(True, description="end if nothing of the first two cases or documents is accepted")

    @field_validator("kinds", mode="before")
    @classmethod
    def _split(cls, kinds: Any) -> Any:
        return kinds.split(",") if isinstance(kinds, str) else kinds

    @property
    def given(self) -> set[str]:
        """The keys that have a value of the user's."""
        return {name for name in self.model_fields_set if getattr(self, name) is not None}

    @property
    def path_name(self) -> str | None:
        """The last part of `path`, which the build report records."""
        return self.path.absolute().name if self.path else None

    @property
    def recorded(self) -> dict[str, Any]:
        """The options on which the records depend, as a build report records them. Of folders it has the last part."""
        names = BuildPlan.model_fields.keys() - {"early_stop", "keep"}
        prompts = self.prompts and self.prompts.absolute().name
        return self.model_dump(mode="json", include=names) | {"path": self.path_name, "prompts": prompts}


@dataclass(frozen=True)
class RecordGroup:
    """The records made of one item. The first one identifies the group and must be new in the build; the ids of the
    others must differ within the group. Subclasses add the group's statistics."""

    records: Sequence[Record]


class Generator(ABC, Generic[T]):
    """Makes groups of records from items. One object serves one build.

    The records must depend on the plan and the teachers' answers alone. A build is resumed by running it again: the
    answers come from the cache, so the same bytes follow.
    """

    name: ClassVar[str]
    dataset: ClassVar[DatasetType[Any]]
    needs_teacher: ClassVar[bool] = False
    reads_corpus: ClassVar[bool] = False
    """Whether `plan.source` names a corpus instead of this generator."""
    report_file: ClassVar[str] = "build.json"
    options: ClassVar[type[ConfigModel]] = NoOptions
    """The model of `plan.options`."""
    unused: ClassVar[Sequence[str]] = ()
    """The keys of a plan that have no effect on this generator: a plan that has them is refused."""
    items_in_progress: ClassVar[int] = 2
    """Items in progress per concurrent call: more than one, so that an item that waits for a call blocks no slot."""
    trial: ClassVar[int] = 0
    """How many first items run alone: if nothing is made of them, `check_trial` is called. 0 for none."""
    advice: ClassVar[str] = "use a stronger model"
    """What to do about a teacher of which nothing is accepted."""

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        self.plan, self.own, self.teachers = plan, self.check(plan), teachers
        self.title = plan.source
        self.skipped: Counter[str] = Counter()
        self.abstained: Counter[str] = Counter()

    @classmethod
    def unused_keys(cls, plan: BuildPlan) -> set[str]:
        return {"candidates", "per_principle", "rationales", *cls.unused}

    @classmethod
    def check(cls, plan: BuildPlan) -> Any:
        """The `options` of a plan. Raises: JudgeError for a key of the plan that has no effect, and ConfigError."""
        if given := plan.given & cls.unused_keys(plan):
            raise JudgeError(f"{min(given)} has no effect on {plan.source!r}: leave it out")
        return validated(cls.options, {**plan.options}, (), f"options of {plan.source}")

    @abstractmethod
    def items(self) -> Iterator[T]:
        """The items to work on, in order. What is left out is counted in `skipped`."""

    @abstractmethod
    def generate(self, item: T) -> RecordGroup | Awaitable[RecordGroup | None] | None:
        """The records made of one item, or None. A generator with teachers defines this as `async def`."""

    async def choose(self, group: Any) -> RecordGroup:
        """The group with the records that are chosen given those before. A build with teachers calls it in order."""
        return group  # type: ignore[no-any-return]

    def finalize(self, record: Record) -> Record:
        """The record as it is written. Called once for each record that is new, in the order of the file."""
        return record

    def add(self, group: Any) -> None:
        """Add the statistics of a group that is new. Called in the order of the items."""

    def check_trial(self, items: int) -> None:
        """Called after the first items if nothing was made of them, with their statistics added.

        Raises: JudgeError if a teacher was asked, unless the plan says to go on.
        """
        if self.plan.early_stop and self._asked:
            raise JudgeError(f"{self.why_empty(items)}. To build anyway, add early_stop=false")

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring, for `judge-r1 build --help`."""
        return (cls.__doc__ or cls.dataset.title).strip().splitlines()[0]

    @property
    def files(self) -> Sequence[RecordFile[Any]]:
        """The files that this build writes."""
        return [file for file in self.dataset.files if not file.optional]

    @property
    def attempts(self) -> Attempts:
        """What the teachers' answers came to so far."""
        return Attempts()

    @property
    def answers(self) -> int:
        """How many answers the teachers have given so far."""
        return self.attempts.answers

    @property
    def _asked(self) -> bool:
        """Whether any request to a teacher was answered or refused."""
        return bool(self.answers) or any(why.endswith(REFUSED) for why in [*self.rejections(), *self.skipped])

    @property
    def wanted(self) -> int | None:
        """How many groups to make; None for as many as there are."""
        return None

    def missing(self, made: int, pending: int) -> int | None:
        """How many items to start next, given the groups that are made and deferred; None for all that are left."""
        return None if self.wanted is None else self.wanted - made - pending

    def ends_with(self, spent: BudgetSpent) -> bool:
        """Whether the build ends with what is made when the budget is spent, instead of failing."""
        return False

    def count(self) -> int:
        """How many items there are. Reads them all, so that an invalid one is found before anything is paid for."""
        total = sum(1 for _ in self.items())
        self.skipped.clear()
        return total

    def take(self, items: Iterator[T], missing: int | None) -> Iterator[T]:
        """The next items, as many as groups are missing."""
        return islice(items, missing)

    def settings(self) -> dict[str, Any]:
        """How the build report begins."""
        return {"generator": self.name, "seed": self.plan.seed}

    def details(self) -> dict[str, Any]:
        """How the build report ends."""
        return {}

    def report(self, counts: Sequence[RecordCounts]) -> dict[str, Any]:
        """The build report, from the counts of each file that is not optional."""
        labels = {group: by_label for file in counts for group, by_label in file.by_label().items()}
        return {
            **self.settings(),
            **{file.file.plural: file.total for file in counts},
            **labels,
            f"skipped_{self.files[0].plural}": dict(sorted(self.skipped.items())),
            "abstained": dict(sorted(self.abstained.items())),
            **self.details(),
        }

    def rejections(self) -> Mapping[str, int]:
        """Why records of the main file were not made, by reason."""
        return self.abstained

    def why_empty(self, groups: int) -> str:
        """The error message of a build without a record in the main file, with all reasons, the most frequent first."""
        lead, main = self.files[0], self.dataset.main
        if self._asked:
            items = counted(groups, lead.noun)
            unmade = {**self.rejections(), **self.skipped}
            return why_nothing(self.teachers[0].name, items, main.noun, self.attempts, unmade, self.advice)
        gave = f"gave {counted(groups, lead.noun)} and no {main.noun}" if lead != main else f"gave no {main.noun}"
        rejected = f"; rejected: {reasons(self.rejections())}" if self.rejections() else ""
        return f"source {self.title!r} {gave} (skipped: {reasons(self.skipped)}{rejected})"
