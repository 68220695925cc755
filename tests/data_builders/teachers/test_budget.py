from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.teachers import TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Tokens
from data_builders.teachers.budget import Price, Spending, load_prices


def answer(read: int, written: int) -> TeacherReply:
    return TeacherReply(text="", input_tokens=read, output_tokens=written, finished=True, model="m")


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**6)), max_size=8), st.floats(0, 100), st.floats(0, 100)
)
def test_cost_is_tokens_times_price(calls: list[tuple[int, int]], read_price: float, written_price: float) -> None:
    spending = Spending({"m": Price(input=read_price, output=written_price)})
    spending.open_account("chat:m", Tokens(1, 2_000_000, 1_000_000))
    for read, written in calls:
        spending.add("chat:m", answer(read, written))
    millions = 2 + sum(read for read, _ in calls) / 1e6, 1 + sum(written for _, written in calls) / 1e6
    assert spending.usd == pytest.approx(millions[0] * read_price + millions[1] * written_price)


def test_without_prices_tokens_are_counted_and_a_budget_is_an_error() -> None:
    spending = Spending()
    spending.open_account("chat:m", Tokens())
    spending.add("chat:m", answer(5, 6))
    assert spending.as_dict()["chat:m"] == {
        "calls": 1, "input_tokens": 5, "cached_tokens": 0, "stored_tokens": 0, "output_tokens": 6, "usd": None,
        "from_cache": 0, "refused": 0, "usd_before": None,
    }  # fmt: skip
    assert "$" not in spending.summary()
    with pytest.raises(TeacherError, match="prices=FILE"):
        Spending(budget=5)


@pytest.mark.parametrize("text", ["m: {input: 3, output: 15}\n", '{"m": {"input": 3, "output": 15}}'])
def test_prices_are_yaml_or_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "p").write_text(text)
    assert load_prices(tmp_path / "p") == {"m": Price(input=3, output=15)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("m: {input: 3}", "field m.output"),
        ("m: {input: -3, output: 1}", "field m.input"),
        ("m: {input: 3, output: 1, cached: 1}", "field m.cached"),
        ("m: 3", "field m"),
        ("- 3", "map each model"),
        ("m: [", "not YAML"),
    ],
)
def test_invalid_prices_name_the_file_and_field(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(TeacherError, match=says) as caught:
        load_prices(tmp_path / "prices.yaml")
    assert "prices.yaml" in str(caught.value)


def test_a_missing_prices_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TeacherError, match="cannot be read"):
        load_prices(tmp_path / "none")


def test_refusals_are_counted_and_the_first_is_quoted() -> None:
    spending = Spending()
    spending.open_account("chat:m", Tokens())
    assert spending.refusals == ""
    for reason in ("too long", "against the rules"):
        spending.add_refusal("chat:m", reason)
    assert spending.refusals == "chat:m: 2 requests rejected, the first one because: too long"
    assert spending.summary().endswith(spending.refusals)
    assert spending.as_dict()["chat:m"]["refused"] == 2
