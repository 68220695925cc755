"""What calls cost: tokens by teacher, money where the user says the prices, and the budget that stops a run cleanly.

A budget covers everything that its teachers' live answers in the cache have cost, in this run and before it: a build
that is killed and run again does not get the money twice. Answers from the cache and from batches cost it nothing.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from data_builders.teachers import BudgetSpent, TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Tokens
from judge_r1.core.jsonl import explain
from judge_r1.core.registry import suggest


class Price(BaseModel):
    """USD for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, tokens: Tokens) -> float:
        return (tokens.input * self.input + tokens.output * self.output) / 1e6


Prices = Mapping[str, Price]


def load_prices(path: Path) -> Prices:
    """Prices by model from YAML or JSON: `MODEL: {input: 3.0, output: 15.0}`."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TeacherError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise TeacherError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    try:
        return TypeAdapter(dict[str, Price]).validate_python(data)
    except ValidationError as error:
        raise TeacherError(
            f"{path}: {explain(error)}; it must map each model to {{input: USD, output: USD}} for a million tokens"
        ) from None


@dataclass(frozen=True)
class Usage:
    """One teacher's part: calls of this run, live calls before it, and answers that came from the cache."""

    run: Tokens
    before: Tokens
    reused: int
    run_usd: float | None
    before_usd: float | None


class Spending:
    """The accounts of a run. Errors: TeacherError for a budget without prices."""

    def __init__(self, prices: Prices | None = None, budget: float | None = None) -> None:
        if budget is not None and prices is None:
            raise TeacherError("a budget needs prices: give --prices FILE with USD for a million tokens of each model")
        self._prices, self._budget = prices, budget
        self._before: dict[str, Tokens] = {}
        self._run: defaultdict[str, Tokens] = defaultdict(Tokens)
        self._reused: defaultdict[str, int] = defaultdict(int)
        self._refusals: dict[str, tuple[int, str]] = {}

    def open_account(self, teacher: str, before: Tokens) -> None:
        """A teacher of this run, and what its live answers in the cache have used already."""
        if self._prices is not None and _model(teacher) not in self._prices:
            raise TeacherError(f"--prices has no model {_model(teacher)!r}{suggest(_model(teacher), self._prices)}")
        self._before[teacher] = before

    def check(self) -> None:
        """Errors: BudgetSpent where no further call may start."""
        if self._budget is not None and self.usd >= self._budget:
            raise BudgetSpent(
                f"the budget of ${self._budget:.2f} is spent: {self.summary()}; every answer is kept: give the same "
                "command a higher --budget to go on where it stopped"
            )

    def paid(self, teacher: str, answer: TeacherReply) -> None:
        self._run[teacher] += Tokens(1, answer.input_tokens, answer.output_tokens)

    def reused(self, teacher: str) -> None:
        self._reused[teacher] += 1

    def refused(self, teacher: str, reason: str) -> None:
        """An ask that the vendor would not take: it costs nothing, but the user should learn why."""
        count, first = self._refusals.get(teacher, (0, reason))
        self._refusals[teacher] = (count + 1, first)

    @property
    def refusals(self) -> str:
        """How many asks were refused and the first reason, by teacher; empty without any."""
        return "; ".join(
            f"{teacher}: {count:,} asks refused, the first one so: {first}"
            for teacher, (count, first) in sorted(self._refusals.items())
        )

    @property
    def usd(self) -> float:
        """What the budget counts: this run and before it. 0 without prices."""
        return sum((bill.run_usd or 0) + (bill.before_usd or 0) for bill in self.bills().values())

    def bills(self) -> dict[str, Usage]:
        bills = {}
        for teacher, before in sorted(self._before.items()):
            price, run = self._prices[_model(teacher)] if self._prices is not None else None, self._run[teacher]
            usd = (price.of(run), price.of(before)) if price else (None, None)
            bills[teacher] = Usage(run, before, self._reused[teacher], *usd)
        return bills

    def summary(self) -> str:
        """One sentence for the end of a command."""
        bills = [_sentence(teacher, bill) for teacher, bill in self.bills().items()]
        return "; ".join(filter(None, [*bills, self.refusals])) or "no teacher was asked"

    def as_dict(self) -> dict[str, Any]:
        """For a file of timings: what a run spent differs from run to run."""
        return {
            teacher: {
                "calls": bill.run.calls,
                "input_tokens": bill.run.input,
                "output_tokens": bill.run.output,
                "usd": bill.run_usd,
                "from_cache": bill.reused,
                "refused": self._refusals.get(teacher, (0, ""))[0],
                "usd_before": bill.before_usd,
            }
            for teacher, bill in self.bills().items()
        }


def _model(teacher: str) -> str:
    return teacher.partition(":")[2]


def _sentence(teacher: str, bill: Usage) -> str:
    money = f" for ${bill.run_usd:.2f}" if bill.run_usd is not None else ""
    before = f" (${bill.before_usd:.2f} before this run)" if bill.before_usd else ""
    return (
        f"{teacher}: {bill.run.calls:,} calls{money}{before}, {bill.run.input:,} tokens in and {bill.run.output:,} "
        f"out, {bill.reused:,} answers from the cache"
    )
