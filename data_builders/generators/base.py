"""The interface of generators, and the options of a build."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from data_builders.dataset_type import DatasetType, RecordCounts, RecordFile
from data_builders.rejection_report import why_nothing
from data_builders.teachers import BudgetSpent, Teacher
from data_builders.teachers.attempts import REFUSED, Attempts
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted
from judge_r1.files.yaml_config import ConfigModel

T = TypeVar("T")
KINDS = ("single", "multi")
RULES_VERSION = 6
"""Version of the rules for corpora. A build by other rules is another build."""


@dataclass(frozen=True)
class BuildPlan:
    """The options that the data depends on, apart from the teacher's answers.

    `source` names a corpus or a generator. `kinds` and `variants` matter to generators of pairs.
    `candidates` is how many flaws of a principle a teacher is asked for, to choose `variants` of them; None for no
    choice. `options` are the `key=value` options of one generator. With `early_stop`, a build by a teacher ends after
    the first cases if nothing of them is accepted. `keep` says which pairs stay where there is a verifier: those whose
    label it confirms, or all. `prompts` is a folder with templates of the user for a teacher of pairs. With
    `per_principle`, a teacher is asked about further cases only until each set has so many pairs.
    """

    source: str
    path: Path | None = None
    kinds: Sequence[str] = KINDS
    variants: int = 5
    seed: int = 0
    limit: int | None = None
    candidates: int | None = None
    options: Sequence[str] = ()
    early_stop: bool = True
    keep: Literal["agreed", "all"] = "agreed"
    prompts: Path | None = None
    per_principle: int | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown or not self.kinds:
            raise JudgeError(f"--kinds takes {' and '.join(KINDS)}, not {', '.join(unknown) or 'nothing'}")
        if self.candidates is not None and self.candidates < 1:
            raise JudgeError(f"--candidates is a number from 1 on, not {self.candidates}")

    @property
    def path_name(self) -> str | None:
        """The last part of `path`, which the build report records."""
        return self.path.absolute().name if self.path else None

    @property
    def recorded(self) -> dict[str, Any]:
        """The options on which the records depend, as a build report records them. Of folders it has the last part."""
        left_out = ("early_stop", "keep")
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in left_out}
        prompts = self.prompts and self.prompts.absolute().name
        lists = {"kinds": list(self.kinds), "options": list(self.options)}
        return {**options, **lists, "path": self.path_name, "prompts": prompts}


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
    options: ClassVar[type[ConfigModel] | None] = None
    """The model of the `key=value` options of `plan.options`; None for a generator without any."""
    unused: ClassVar[Sequence[str]] = ()
    """Which of `kinds`, `variants` and `seed` have no effect: other values than the default are refused."""
    items_in_progress: ClassVar[int] = 2
    """Items in progress per concurrent call: more than one, so that an item that waits for a call blocks no slot."""
    trial: ClassVar[int] = 0
    """How many first items run alone: if nothing is made of them, `check_trial` is called. 0 for none."""
    advice: ClassVar[str] = "use a stronger model"
    """What to do about a teacher of which nothing is accepted."""

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        if plan.options and self.options is None:
            raise JudgeError(f"{plan.source!r} has no options of its own: leave --set out")
        changed = {"kinds": tuple(plan.kinds) != KINDS, "variants": plan.variants != 5, "seed": plan.seed != 0}
        for name in self.unused:
            if changed[name]:
                raise JudgeError(f"--{name} has no effect on {plan.source!r}: leave it out")
        self.plan, self.teachers = plan, teachers
        self.title = plan.source
        self.skipped: Counter[str] = Counter()
        self.abstained: Counter[str] = Counter()

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
            raise JudgeError(f"{self.why_empty(items)}. To build anyway, add --no-early-stop")

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring, for `judge-r1 build --help`."""
        return (cls.__doc__ or cls.dataset.title).strip().splitlines()[0]

    @property
    def files(self) -> Sequence[RecordFile[Any]]:
        """The files that this build writes."""
        return self.dataset.files

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
        reasons = sorted(self.rejections().items(), key=lambda pair: (-pair[1], pair[0]))
        rejected = f"; rejected: {', '.join(f'{reason} ({count})' for reason, count in reasons)}" if reasons else ""
        return f"source {self.title!r} {gave} (skipped: {dict(self.skipped) or 'none'}{rejected})"
