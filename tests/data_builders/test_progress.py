"""A build counts its items and records, the teachers' answers, and their price."""

from data_builders.progress import BuildCounts
from data_builders.teachers import TeacherReply
from data_builders.teachers.answer_cache import Tokens
from data_builders.teachers.budget import Price, Spending


def test_a_build_shows_records_answers_and_costs() -> None:
    spending = Spending({"toy": Price(input=3, output=15)})
    spending.open_account("chat:toy", Tokens())
    answers = 0
    counts = BuildCounts(50, "pairs", lambda: answers, spending)
    for _ in range(10):
        spending.add(
            "chat:toy", TeacherReply(text="x", input_tokens=100_000, output_tokens=20_000, finished=True, model="toy")
        )
        answers += 7
        counts.item_done(135)
    assert counts.done() == (10, 50, "1,350 pairs, 70 answers, $6.00 so far")
    assert BuildCounts(50, "pairs", lambda: 0).done() == (0, 50, "")
