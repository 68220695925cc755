"""Counts tokens and cost by teacher, and stops a run when its budget is spent.

A budget covers all live answers of its teachers in the cache, so a resumed build does not get it twice. Cached answers
and batch results are free.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from data_builders.teachers import BudgetSpent, TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Tokens
from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.registry import suggest
from judge_r1.core.strict_yaml import read_yaml


class Price(BaseModel):
    """USD per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, tokens: Tokens) -> float:
        return (tokens.input * self.input + tokens.output * self.output) / 1e6


Prices = Mapping[str, Price]


def load_prices(path: Path) -> Prices:
    """Prices by model from YAML or JSON: `MODEL: {input: 3.0, output: 15.0}`."""
    try:
        data = read_yaml(path)
    except JudgeError as error:
        raise TeacherError(str(error)) from None
    try:
        return TypeAdapter(dict[str, Price]).validate_python(data)
    except ValidationError as error:
        raise TeacherError(
            f"{path}: {explain(error)}; it must map each model to {{input: USD, output: USD}} per million tokens"
        ) from None


@dataclass(frozen=True)
class Usage:
    """The usage of one teacher: calls of this run, which took `seconds` in sum, live calls of earlier runs, and answers
    from the cache."""

    run: Tokens
    before: Tokens
    reused: Tokens
    seconds: float
    run_usd: float | None
    before_usd: float | None


class Spending:
    """Counts what a run spends. Raises: TeacherError for a budget without prices."""

    def __init__(self, prices: Prices | None = None, budget: float | None = None) -> None:
        if budget is not None and prices is None:
            raise TeacherError("a budget needs prices: give --prices FILE with USD per million tokens of each model")
        self._prices, self._budget = prices, budget
        self._price_of: dict[str, Price] = {}
        self._before: dict[str, Tokens] = {}
        self._run: defaultdict[str, Tokens] = defaultdict(Tokens)
        self._reused: defaultdict[str, Tokens] = defaultdict(Tokens)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._refusals: dict[str, tuple[int, str]] = {}

    def open_account(self, teacher: str, before: Tokens, *, free: bool = False) -> None:
        """Add a teacher, with the tokens of its live answers in the cache. A free one needs no price."""
        if self._prices is not None and not free:
            if _model(teacher) not in self._prices:
                raise TeacherError(f"--prices has no model {_model(teacher)!r}{suggest(_model(teacher), self._prices)}")
            self._price_of[teacher] = self._prices[_model(teacher)]
        self._before[teacher] = before

    def check(self) -> None:
        """Raises: BudgetSpent if no further call may start."""
        if self._budget is not None and self.usd >= self._budget:
            raise BudgetSpent(
                f"the budget of ${self._budget:.2f} is spent: {self.summary()}; every answer is stored: run the same "
                "command with a higher --budget to resume"
            )

    def add(self, teacher: str, answer: TeacherReply, seconds: float = 0.0) -> None:
        """Count a live answer and the time that it took."""
        self._run[teacher] += Tokens(1, answer.input_tokens, answer.output_tokens)
        self._seconds[teacher] += seconds

    def add_cached(self, teacher: str, answer: TeacherReply) -> None:
        """Count an answer from the cache."""
        self._reused[teacher] += Tokens(1, answer.input_tokens, answer.output_tokens)

    def cost(self, teacher: str, tokens: Tokens) -> float | None:
        """What a teacher's tokens cost, in USD; None without a price."""
        price = self._price_of.get(teacher)
        return price.of(tokens) if price else None

    def add_refusal(self, teacher: str, reason: str) -> None:
        """Count a request that the vendor rejected, and remember the first reason."""
        count, first = self._refusals.get(teacher, (0, reason))
        self._refusals[teacher] = (count + 1, first)

    @property
    def refusals(self) -> str:
        """The number of rejected requests and the first reason, by teacher; empty if there are none."""
        return "; ".join(
            f"{teacher}: {count:,} requests rejected, the first one because: {first}"
            for teacher, (count, first) in sorted(self._refusals.items())
        )

    @property
    def usd(self) -> float:
        """The cost that the budget counts: this run and earlier ones. 0 without prices."""
        return sum((usage.run_usd or 0) + (usage.before_usd or 0) for usage in self.usage().values())

    def usage(self) -> dict[str, Usage]:
        entries = {}
        for teacher, before in sorted(self._before.items()):
            run = self._run[teacher]
            usd = self.cost(teacher, run), self.cost(teacher, before)
            entries[teacher] = Usage(run, before, self._reused[teacher], self._seconds[teacher], *usd)
        return entries

    def summary(self) -> str:
        """A summary for the end of a command."""
        entries = [_sentence(teacher, usage) for teacher, usage in self.usage().items()]
        return "; ".join(filter(None, [*entries, self.refusals])) or "no teacher was called"

    def as_dict(self) -> dict[str, Any]:
        """For timing.json."""
        return {
            teacher: {
                "calls": usage.run.calls,
                "input_tokens": usage.run.input,
                "output_tokens": usage.run.output,
                "usd": usage.run_usd,
                "from_cache": usage.reused.calls,
                "refused": self._refusals.get(teacher, (0, ""))[0],
                "usd_before": usage.before_usd,
            }
            for teacher, usage in self.usage().items()
        }


def _model(teacher: str) -> str:
    return teacher.partition(":")[2]


def _sentence(teacher: str, usage: Usage) -> str:
    money = f" for ${usage.run_usd:.2f}" if usage.run_usd is not None else ""
    before = f" (${usage.before_usd:.2f} before this run)" if usage.before_usd else ""
    return (
        f"{teacher}: {usage.run.calls:,} calls{money}{before}, {usage.run.input:,} tokens in and {usage.run.output:,} "
        f"out, {usage.reused.calls:,} answers from the cache"
    )
