"""Counts tokens and cost by teacher, and stops a run when its budget is spent.

A budget covers all live answers of its teachers in the cache, so a resumed build does not get it twice. Cached answers
and batch results are free.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from data_builders.teachers import BudgetSpent, TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Tokens
from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.core.registry import suggest
from judge_r1.files.strict_yaml import read_yaml


class Price(BaseModel):
    """USD per million tokens. Input that the provider reads from its cache or stores there costs as other input where
    it has no price of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(None, ge=0)
    stored_input: float | None = Field(None, ge=0)

    def of(self, tokens: Tokens) -> float:
        read, stored = (self.input if price is None else price for price in (self.cached_input, self.stored_input))
        plain = tokens.input - tokens.cached - tokens.stored
        parts = (plain * self.input, tokens.cached * read, tokens.stored * stored, tokens.output * self.output)
        return sum(parts) / 1e6


Prices = Mapping[str, Price]


def load_prices(path: Path) -> Prices:
    """Prices by model from YAML or JSON: `MODEL: {input: 3.0, output: 15.0}`, and optionally their `date`."""
    return dated_prices(path)[1]


def dated_prices(path: Path) -> tuple[str | None, Prices]:
    """The `date` of a table of prices, such as 2026-11-30, and the prices."""
    try:
        data = read_yaml(path)
    except JudgeError as error:
        raise TeacherError(str(error)) from None
    day = str(data.pop("date")) if isinstance(data, dict) and "date" in data else None
    try:
        if day is not None:
            date.fromisoformat(day)
    except ValueError:
        raise TeacherError(f"{path}: date must be a day such as 2026-11-30, not {day!r}") from None
    form = "; it must map each model to {input: USD, output: USD} per million tokens, and may add cached_input and "
    with invalid_as(TeacherError, path, form + "stored_input"):
        return day, TypeAdapter(dict[str, Price]).validate_python(data)


@dataclass
class Account:
    """The usage of one teacher: live calls of earlier runs, calls of this run, which took `seconds` in sum, answers
    from the cache, and requests that the vendor rejected, with the first reason."""

    before: Tokens
    price: Price | None
    run: Tokens = field(default_factory=Tokens)
    reused: Tokens = field(default_factory=Tokens)
    seconds: float = 0.0
    refused: int = 0
    refusal: str = ""

    def cost(self, tokens: Tokens) -> float | None:
        """What tokens cost, in USD; None without a price."""
        return self.price.of(tokens) if self.price else None


class Spending:
    """Counts what a run spends. Raises: TeacherError for a budget without prices."""

    def __init__(self, prices: Prices | None = None, budget: float | None = None) -> None:
        if budget is not None and prices is None:
            raise TeacherError("a budget needs prices: give prices=FILE with USD per million tokens of each model")
        self._prices, self._budget = prices, budget
        self._accounts: dict[str, Account] = {}

    def open_account(self, teacher: str, before: Tokens, *, free: bool = False) -> None:
        """Add a teacher, with the tokens of its live answers in the cache. A free one needs no price."""
        self._accounts[teacher] = Account(before, None if free else self.price_of(teacher))

    def price_of(self, teacher: str) -> Price | None:
        """The price of a teacher's model; None without prices. Raises: TeacherError for a model without a price."""
        if self._prices is None:
            return None
        model = teacher.partition(":")[2]
        if model not in self._prices:
            raise TeacherError(f"prices: no model is named {model!r}{suggest(model, self._prices)}")
        return self._prices[model]

    def check(self) -> None:
        """Raises: BudgetSpent if no further call may start."""
        if self._budget is not None and self.usd >= self._budget:
            raise BudgetSpent(
                f"the budget of ${self._budget:.2f} is spent: {self.summary()}; every answer is stored: run the same "
                "command with a higher budget to resume"
            )

    def _account(self, teacher: str) -> Account:
        return self._accounts.setdefault(teacher, Account(Tokens(), None))

    def add(self, teacher: str, answer: TeacherReply, seconds: float = 0.0) -> None:
        """Count a live answer and the time that it took."""
        account = self._account(teacher)
        account.run += Tokens.of(answer)
        account.seconds += seconds

    def add_cached(self, teacher: str, answer: TeacherReply) -> None:
        """Count an answer from the cache."""
        self._account(teacher).reused += Tokens.of(answer)

    def add_refusal(self, teacher: str, reason: str) -> None:
        """Count a request that the vendor rejected, and remember the first reason."""
        account = self._account(teacher)
        account.refused, account.refusal = account.refused + 1, account.refusal or reason

    def accounts(self) -> dict[str, Account]:
        """The accounts by teacher."""
        return dict(sorted(self._accounts.items()))

    @property
    def refusals(self) -> str:
        """The number of rejected requests and the first reason, by teacher; empty if there are none."""
        return "; ".join(
            f"{teacher}: {account.refused:,} request{'s' * (account.refused != 1)} rejected, the first one because: "
            f"{account.refusal}"
            for teacher, account in self.accounts().items()
            if account.refused
        )

    @property
    def usd(self) -> float:
        """The cost that the budget counts: this run and earlier ones. 0 without prices."""
        return sum(account.cost(account.run + account.before) or 0 for account in self._accounts.values())

    @property
    def paid(self) -> str:
        """The end of a message about a run that failed: its summary, if it made a call."""
        return f"; {self.summary()}" if any(account.run.calls for account in self._accounts.values()) else ""

    def summary(self) -> str:
        """A summary for the end of a command."""
        entries = [_sentence(teacher, account) for teacher, account in self.accounts().items()]
        return "; ".join(filter(None, [*entries, self.refusals])) or "no teacher was called"

    def as_dict(self) -> dict[str, Any]:
        """For timing.json."""
        return {
            teacher: {
                "calls": account.run.calls,
                "input_tokens": account.run.input,
                "cached_tokens": account.run.cached,
                "stored_tokens": account.run.stored,
                "output_tokens": account.run.output,
                "usd": account.cost(account.run),
                "from_cache": account.reused.calls,
                "refused": account.refused,
                "usd_before": account.cost(account.before),
            }
            for teacher, account in self.accounts().items()
        }


def _sentence(teacher: str, account: Account) -> str:
    run, usd, before = account.run, account.cost(account.run), account.cost(account.before)
    money = f" for ${usd:.2f}" if usd is not None else ""
    earlier = f" and ${before:.2f} for earlier answers" if before else ""
    reused = account.reused.calls
    cached = f" ({run.cached:,} from the provider's cache)" if run.cached else ""
    return (
        f"{teacher}: {run.calls:,} call{'s' * (run.calls != 1)}{money}{earlier}, {run.input:,} tokens in{cached} and "
        f"{run.output:,} out, {reused:,} answer{'s' * (reused != 1)} from the cache"
    )
