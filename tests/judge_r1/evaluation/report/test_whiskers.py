import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from judge_r1.evaluation.report.charts import shortened, whisker_chart
from judge_r1.evaluation.report.tables import Estimate

SHARE = st.floats(0, 1)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=70), st.tuples(SHARE, SHARE, SHARE).map(sorted), min_size=1, max_size=5
    )
)
def test_marks_stand_within_the_picture_and_on_their_whiskers(values: dict[str, list[float]]) -> None:
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


def test_the_accessible_name_tells_every_value_and_text_is_escaped() -> None:
    rows = {"<b>": {"one & two": Estimate(0.5, 0.4, 0.6), "x": Estimate(0.1, 0, 1)}}
    svg = whisker_chart("t", rows, {"one & two": 0, "x": 1})
    assert 'aria-label="t. &lt;b&gt;: one &amp; two 0.50 [0.40, 0.60], x 0.10 [0.00, 1.00]"' in svg
    assert "<b>" not in svg
    assert 'class="whisker c1"' in svg


def test_long_labels_keep_their_ends() -> None:
    assert shortened("short") == "short"
    label = shortened("agentic@" + "x" * 80 + "/grpo/model")
    assert len(label) == 50
    assert label.startswith("agentic@")
    assert label.endswith("/grpo/model")
