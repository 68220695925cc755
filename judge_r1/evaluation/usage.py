"""What votes cost at endpoints, and what the replies say of themselves (`judge_r1.models.base.Usage`)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from judge_r1.evaluation.votes import StoredVote

Replies = dict[str, dict[str, int]]
"""What replies say: name -> value -> number of replies."""


class PanelUsage:
    """The usage of the votes of a panel. Of members, whose models differ, the names are kept apart."""

    def __init__(self) -> None:
        self._total: dict[str, float] = {}
        self._models: dict[int, set[str]] = {}
        self._cut: set[str] = set()

    def add(self, stored: "StoredVote") -> None:
        add_usage(self._total, stored.usage)
        usage = stored.usage or {}
        self._models.setdefault(stored.member, set()).update(split_usage(usage)[1].get("model", ()))
        if usage.get("cut_prompts"):
            self._cut.add(stored.item_id)

    @property
    def counts(self) -> dict[str, float]:
        """Calls, tokens and seconds; empty if no vote was paid for."""
        return {name: round(value, 3) for name, value in split_usage(self._total)[0].items()}

    @property
    def replies(self) -> Replies:
        return split_usage(self._total)[1]

    @property
    def cut_items(self) -> int:
        """The number of items with a prompt that the server cut."""
        return len(self._cut)

    def warnings(self) -> list[str]:
        """What makes the results of a panel doubtful, one sentence each."""
        found = [
            f"replies name {len(names)} models ({', '.join(sorted(names))}): the server changed its model during the "
            "run, so the results are not those of one judge"
            for names in self._models.values()
            if len(names) > 1
        ]
        if self._cut:
            found.append(
                f"the server cut the prompts of {counted(self.cut_items, 'item')}, so the judge did not read all of "
                "them: give the server a longer context, and evaluate again in another folder"
            )
        return found


def total_usage(usages: Iterable[Mapping[str, float] | None]) -> dict[str, float]:
    """The sum of endpoint usage by name; empty if there is none."""
    total: dict[str, float] = {}
    for usage in usages:
        add_usage(total, usage)
    return total


def add_usage(total: dict[str, float], usage: Mapping[str, float] | None) -> None:
    for name, value in (usage or {}).items():
        total[name] = total.get(name, 0) + value


def split_usage(usage: Mapping[str, float]) -> tuple[dict[str, float], Replies]:
    """The counts, and what the replies say: names of the form NAME=VALUE."""
    counts: dict[str, float] = {}
    replies: Replies = {}
    for key, number in usage.items():
        name, equals, value = key.partition("=")
        if not equals:
            counts[name] = number
        elif number:
            replies.setdefault(name, {})[value] = int(number)
    return counts, replies


def describe_usage(usage: Mapping[str, float]) -> str:
    """The calls and tokens in words; empty if no call was answered."""
    if not usage.get("calls"):
        return ""
    return (
        f"{counted(int(usage['calls']), 'call')}, {int(usage.get('input_tokens', 0)):,} tokens read and "
        f"{int(usage.get('output_tokens', 0)):,} written"
    )
