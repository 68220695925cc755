"""Equal values are equal in any form, and other values are not."""

from time import perf_counter

import pytest

from data_builders.text_units.quantities import values

SAME = [
    ("7 kg", "seven kg"),
    ("100 µg", "0.1 mg"),
    ("0.72 × 10⁹/L", "720 per µL"),
    ("3 May 2021", "May 3, 2021"),
    ("3 May 2021", "2021-05-03"),
    ("40 km/h", "40 kilometres per hour"),
    ("200 ml", "0.2 L"),
    ("160M reads", "160 million reads"),
    ("three bypass roads", "3 bypass roads"),
    ("two weeks", "14 days"),
    ("70%", "seventy per cent"),
    ("60 second period", "one-minute period"),
    ("1,500 patients", "1500 patients"),
    ("432 mg/dL", "4.32 g/L"),
    ("1.2 × 10^6 cells", "1.2 million cells"),
    ("1.2\u2009×\u200910^6 cells", "1.2 × 10⁶ cells"),
    ("28 June 2000", "June 28th, 2000"),
    ("twenty-one days", "three weeks"),
    ("5 mmol/L", "5000 µmol/L"),
]
OTHER = [
    ("7 kg", "seventy kg"),
    ("100 µg", "1 mg"),
    ("0.72 × 10⁹/L", "72 per µL"),
    ("3 May 2021", "May 5, 2021"),
    ("3 May 2021", "2021-06-03"),
    ("40 km/h", "40 metres per hour"),
    ("200 ml", "2 L"),
    ("160M reads", "160,000 reads"),
    ("three bypass roads", "13 bypass roads"),
    ("two weeks", "12 days"),
    ("70%", "seventeen per cent"),
    ("60 second period", "two-minute period"),
    ("1,500 patients", "15,000 patients"),
    ("432 mg/dL", "43.2 g/L"),
    ("1.2 × 10^6 cells", "12 million cells"),
    ("28 June 2000", "July 28th, 2000"),
    ("twenty-one days", "four weeks"),
    ("5 mmol/L", "5 µmol/L"),
]


def keys(text: str) -> list[object]:
    return [value.key for value in values(text)]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_values(one: str, other: str) -> None:
    assert keys(one) == keys(other) != []


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_values(one: str, other: str) -> None:
    assert keys(one) != keys(other)


@pytest.mark.parametrize("text", ["CD38+", "Figure 2B", "1.5.2003", "they may march", "13 dozens of 99.9.9", "p.G10A"])
def test_codes_are_no_values(text: str) -> None:
    assert not [value for value in values(text) if value.amount != 13]


def test_long_texts_are_read_in_linear_time() -> None:
    start = perf_counter()
    assert len(values("3 May " * 20_000 + "5 " * 20_000)) == 40_000
    assert perf_counter() - start < 10


def test_a_range_has_both_ends() -> None:
    assert keys("60-70%") == [keys("60")[0], keys("70%")[0]]
