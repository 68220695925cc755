"""What the answers of a teacher came to."""

from collections import Counter
from dataclasses import dataclass, field

REFUSED = "the teacher refused the request"


@dataclass
class Attempts:
    """Counts answers, those of which something was used, and rejections by reason. `rejected_answer` is the first
    answer of which nothing was used, and what it was asked for."""

    answers: int = 0
    used: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    rejected_answer: tuple[str, str] | None = None

    def reject(self, reason: str, asked: str, answer: str) -> None:
        """Count an answer of which nothing is used."""
        self.rejected[reason] += 1
        self.rejected_answer = self.rejected_answer or (asked, answer)
