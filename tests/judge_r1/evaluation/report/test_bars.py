"""Bars are as high as their values, inside the picture, and named."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.evaluation.report.charts import HEIGHT, WIDTH, bar_chart

VALUES = st.lists(st.floats(0, 1e6, allow_nan=False).map(lambda v: round(v, 3)), min_size=3, max_size=3)
NAMES = st.text(st.characters(categories=["L", "P", "S"]), min_size=1, max_size=5)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_every_bar_is_inside_and_in_proportion(series: dict[str, list[float]]) -> None:
    svg = ET.fromstring(bar_chart("<t>", ["a", "b", "&"], series, dict.fromkeys(series, 0)))
    bars = svg.findall("rect")
    assert len(bars) == 3 * len(series)
    values = [series[name][at] for at in range(3) for name in series]
    heights = [float(bar.attrib["height"]) for bar in bars]
    scale = max(heights) / max(values) if max(values) else 0
    for bar, value, height in zip(bars, values, heights, strict=True):
        x, y, width = (float(bar.attrib[name]) for name in ("x", "y", "width"))
        assert x >= 0
        assert y >= 0
        assert x + width <= WIDTH
        assert y + height <= HEIGHT
        assert height == pytest.approx(value * scale, abs=0.11)
    assert len({bar.attrib["x"] for bar in bars}) == len(bars)


def test_the_chart_tells_its_values() -> None:
    svg = ET.fromstring(bar_chart("Balance", ["A", "B"], {"legal": [40, 60]}, {"legal": 3}))
    assert svg.attrib["aria-label"] == "Balance. legal: A 40, B 60"
    assert svg.findall("rect")[1].findtext("title") == "legal, B: 60"
    assert svg.findall("rect")[0].attrib["class"] == "bar c3"


@pytest.mark.parametrize("values", [[1.0], [1.0, -1.0]])
def test_a_series_must_fit_the_labels(values: list[float]) -> None:
    with pytest.raises(ValueError, match="needs 2 values"):
        bar_chart("t", ["a", "b"], {"x": values}, {"x": 0})
