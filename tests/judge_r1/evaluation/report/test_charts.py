import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from judge_r1.evaluation.report.charts import HEIGHT, WIDTH, line_chart
from judge_r1.evaluation.report.charts import ticks as round_numbers

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
def test_every_point_is_drawn_inside_the_picture(series: dict[str, list[tuple[float, float]]]) -> None:
    series = {"".join(c for c in name if c.isprintable()): line for name, line in series.items()}
    svg = ET.fromstring(line_chart("t", series, dict.fromkeys(series, 0)))
    lines = svg.findall("polyline")
    assert len(lines) == len(series)
    for element, line in zip(lines, series.values(), strict=True):
        points = [tuple(map(float, p.split(","))) for p in element.attrib["points"].split()]
        assert len(points) == len(line)
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)


def test_higher_values_stand_higher_and_names_are_escaped() -> None:
    text = line_chart("a<b", {'"x" & <y>': [(0, 0.0), (10, 1.0)]}, {'"x" & <y>': 3})
    svg = ET.fromstring(text)
    first, last = ([float(n) for n in p.split(",")] for p in svg.findall("polyline")[0].attrib["points"].split())
    assert last[0] > first[0]
    assert last[1] < first[1]
    assert svg.attrib["aria-label"] == 'a<b: "x" & <y> from 0 to 1'
    assert svg.findall("polyline")[0].attrib["class"] == "line c3"
