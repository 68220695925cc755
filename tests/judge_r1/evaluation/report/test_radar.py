import math
import xml.etree.ElementTree as ET

import pytest

from judge_r1.evaluation.report.charts import RADIUS, SIZE, radar_chart


def test_a_value_is_a_distance_from_the_middle() -> None:
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


def test_what_is_no_radar_is_refused() -> None:
    with pytest.raises(ValueError, match="three axes"):
        radar_chart("t", ["a", "b"], {}, {})
    with pytest.raises(ValueError, match="needs 3 values"):
        radar_chart("t", ["a", "b", "c"], {"x": [0.1, 0.2]}, {"x": 0})
    with pytest.raises(ValueError, match="from 0 to 1"):
        radar_chart("t", ["a", "b", "c"], {"x": [0.1, 0.2, 1.2]}, {"x": 0})
