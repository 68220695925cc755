"""Line, bar, radar and whisker charts: geometry, accessible names and escaping."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.evaluation.report.charts import (
    HEIGHT,
    RADIUS,
    SIZE,
    WIDTH,
    bar_chart,
    line_chart,
    radar_chart,
    shortened,
    whisker_chart,
)
from judge_r1.evaluation.report.charts import ticks as round_numbers
from judge_r1.evaluation.report.tables import Estimate

VALUES = st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 6))


@given(st.lists(VALUES, min_size=1, max_size=20))
def test_ticks_are_few_even_and_enclose_the_values(values: list[float]) -> None:
    ticks = round_numbers(values, 4)
    assert 2 <= len(ticks) <= 7
    slack = 1e-6 * (1 + max(map(abs, values)))
    assert ticks[0] - slack <= min(values)
    assert max(values) <= ticks[-1] + slack
    assert ticks == sorted(set(ticks))


@given(st.dictionaries(st.text(max_size=5), st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=9), min_size=1))
def test_every_point_lies_inside_the_chart(series: dict[str, list[tuple[float, float]]]) -> None:
    series = {"".join(c for c in name if c.isprintable()): line for name, line in series.items()}
    svg = ET.fromstring(line_chart("t", series, dict.fromkeys(series, 0)))
    lines = svg.findall("polyline")
    assert len(lines) == len(series)
    for element, line in zip(lines, series.values(), strict=True):
        points = [tuple(map(float, p.split(","))) for p in element.attrib["points"].split()]
        assert len(points) == len(line)
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)


def test_higher_values_are_drawn_higher_and_names_are_escaped() -> None:
    text = line_chart("a<b", {'"x" & <y>': [(0, 0.0), (10, 1.0)]}, {'"x" & <y>': 3})
    svg = ET.fromstring(text)
    first, last = ([float(n) for n in p.split(",")] for p in svg.findall("polyline")[0].attrib["points"].split())
    assert last[0] > first[0]
    assert last[1] < first[1]
    assert svg.attrib["aria-label"] == 'a<b: "x" & <y> from 0 to 1'
    assert svg.findall("polyline")[0].attrib["class"] == "line c3"


BAR_VALUES = st.lists(st.floats(0, 1e6, allow_nan=False).map(lambda v: round(v, 3)), min_size=3, max_size=3)
NAMES = st.text(st.characters(categories=["L", "P", "S"]), min_size=1, max_size=5)


@given(st.dictionaries(NAMES, BAR_VALUES, min_size=1, max_size=4))
def test_bars_lie_inside_the_chart_with_proportional_heights(series: dict[str, list[float]]) -> None:
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


def test_bar_chart_lists_its_values_for_screen_readers() -> None:
    svg = ET.fromstring(bar_chart("Balance", ["A", "B"], {"legal": [40, 60]}, {"legal": 3}))
    assert svg.attrib["aria-label"] == "Balance. legal: A 40, B 60"
    assert svg.findall("rect")[1].findtext("title") == "legal, B: 60"
    assert svg.findall("rect")[0].attrib["class"] == "bar c3"


@pytest.mark.parametrize("values", [[1.0], [1.0, -1.0]])
def test_bar_chart_rejects_wrong_series(values: list[float]) -> None:
    with pytest.raises(ValueError, match="needs 2 values"):
        bar_chart("t", ["a", "b"], {"x": values}, {"x": 0})


def test_radar_value_is_the_distance_from_the_center() -> None:
    svg = radar_chart("t & t", ["a", "b", "c", "d"], {"x": [1.0, 0.5, 0.0, 0.25]}, {"x": 2})
    root = ET.fromstring(svg)
    [line] = [e for e in root if e.get("class") == "line c2"]
    points = [tuple(map(float, point.split(","))) for point in (line.get("points") or "").split()]
    distances = [math.dist(point, (SIZE / 2, SIZE / 2)) / RADIUS for point in points]
    assert distances == pytest.approx([1, 0.5, 0, 0.25], abs=0.002)
    assert points[0] == pytest.approx((SIZE / 2, SIZE / 2 - RADIUS))
    assert points[1][0] > SIZE / 2  # clockwise
    assert root.get("aria-label") == "t & t. x: a 1, b 0.5, c 0, d 0.25"
    assert sum(e.get("class") == "dot c2" for e in root) == 4


def test_radar_rejects_wrong_input() -> None:
    with pytest.raises(ValueError, match="three axes"):
        radar_chart("t", ["a", "b"], {}, {})
    with pytest.raises(ValueError, match="needs 3 values"):
        radar_chart("t", ["a", "b", "c"], {"x": [0.1, 0.2]}, {"x": 0})
    with pytest.raises(ValueError, match="from 0 to 1"):
        radar_chart("t", ["a", "b", "c"], {"x": [0.1, 0.2, 1.2]}, {"x": 0})


SHARE = st.floats(0, 1)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=70), st.tuples(SHARE, SHARE, SHARE).map(sorted), min_size=1, max_size=5
    )
)
def test_whisker_marks_lie_inside_the_chart_and_on_their_whiskers(values: dict[str, list[float]]) -> None:
    rows = {name: {"j": Estimate(value, low, high)} for name, (low, value, high) in values.items()}
    svg = ET.fromstring(
        re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "", whisker_chart("t", rows, {"j": 0}))
    )
    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    groups = [g for g in svg.iter("g") if "whisker" in g.attrib["class"]]
    assert len(groups) == len(values)
    for group in groups:
        line, path = group.find("line"), group.find("path")
        assert line is not None
        assert path is not None
        x, y = map(float, re.findall(r"[-\d.]+", path.attrib["transform"]))
        assert 0 <= float(line.attrib["x1"]) <= x <= float(line.attrib["x2"]) <= width
        assert 0 < y < height


def test_whisker_chart_lists_its_values_and_escapes_text() -> None:
    rows = {"<b>": {"one & two": Estimate(0.5, 0.4, 0.6), "x": Estimate(0.1, 0, 1)}}
    svg = whisker_chart("t", rows, {"one & two": 0, "x": 1})
    assert 'aria-label="t. &lt;b&gt;: one &amp; two 0.50 [0.40, 0.60], x 0.10 [0.00, 1.00]"' in svg
    assert "<b>" not in svg
    assert 'class="whisker c1"' in svg


def test_long_labels_keep_start_and_end() -> None:
    assert shortened("short") == "short"
    label = shortened("agentic@" + "x" * 80 + "/grpo/model")
    assert len(label) == 50
    assert label.startswith("agentic@")
    assert label.endswith("/grpo/model")
