"""Calibration of a judge from a file of answers: numbers, errors, diagram."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.calibrate import Calibration, ConfidenceRow, calibrate, read_confidences
from judge_r1.evaluation.report.standalone import reliability_diagram
from judge_r1.files.jsonl import BadRecord, write_jsonl
from judge_r1.statistics.calibration import brier, cross_fitted, expected_calibration_error, fit_isotonic
from judge_r1.statistics.selective_risk import select

SVG = "{http://www.w3.org/2000/svg}"


def answers(cases: int, seed: int = 0) -> list[ConfidenceRow]:
    """Two answers a case of an overconfident judge; every tenth case has one without confidence, which is wrong."""
    generator = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        told = float(generator.uniform(0.5, 0.999))
        true = told / 2 + 0.45
        for number in range(2):
            lost = number == 0 and case % 10 == 0
            right = not lost and bool(generator.random() < min(true, told))
            rows.append(ConfidenceRow(confidence=None if lost else told, correct=right, cluster=f"case {case}"))
    return rows


def test_calibration_equals_the_statistics_functions() -> None:
    rows = answers(150)
    found = calibrate(rows, (0.3, 0.1), seed=4)
    told = [(r.confidence, r.correct, r.cluster) for r in rows if r.confidence is not None]
    confidences, correct, clusters = [c for c, _, _ in told], [r for _, r, _ in told], [g for _, _, g in told]
    assert (found.n, found.without_confidence, found.clusters) == (300, 15, 150)
    assert found.accuracy == sum(r.correct for r in rows) / 300
    assert found.before.brier == brier(confidences, correct)
    assert found.before.ece_width == expected_calibration_error(confidences, correct, "width")
    assert found.before.brier_ci95[0] < found.before.brier < found.before.brier_ci95[1]
    mapped = cross_fitted(fit_isotonic, confidences, correct, clusters, seed=4)
    assert found.with_isotonic.ece == expected_calibration_error(mapped, correct)
    assert found.isotonic == fit_isotonic(confidences, correct)
    assert found.selective == select(
        [r.confidence for r in rows], [r.correct for r in rows], [r.cluster for r in rows], alpha=0.3, delta=0.1, seed=4
    )
    assert found.selective is not None
    assert found.selective.designed + found.selective.tested == 150
    assert calibrate(rows, (0.3, 0.1), seed=4) == found
    assert calibrate(rows, seed=4).selective is None


def test_calibration_survives_a_json_round_trip() -> None:
    found = calibrate(answers(60), (0.4, 0.2))
    assert Calibration.model_validate_json(found.model_dump_json(by_alias=True)) == found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"confidence": 1.5, "correct": true, "cluster": "a"}', "line 2: field confidence: .*less than or equal to 1"),
        ('{"confidence": 0.5, "correct": "yes", "cluster": "a"}', "line 2: field correct"),
        ('{"confidence": 0.5, "correct": true, "cluster": ""}', "line 2: field cluster"),
        ('{"correct": true, "cluster": "a"}', "line 2: field confidence: Field required"),
        ('{"confidence": NaN, "correct": true, "cluster": "a"}', "line 2: not valid JSON"),
    ],
)
def test_wrong_lines_are_reported_with_line_and_field(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    path.write_text('{"confidence": 0.5, "correct": true, "cluster": "a"}\n' + line + "\n")
    with pytest.raises(BadRecord, match=message):
        read_confidences(path)


def test_file_without_a_confidence_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    write_jsonl(path, [ConfidenceRow(confidence=None, correct=False, cluster="a")] * 2)
    with pytest.raises(JudgeError, match=r"no answer with a confidence in its 2 lines"):
        read_confidences(path)
    path.write_text("")
    with pytest.raises(JudgeError, match="no answer with a confidence"):
        read_confidences(path)


def test_reliability_diagram_is_standalone_and_shows_every_bin() -> None:
    found = calibrate(answers(100))
    tables = {"before": found.before.table, "iso & <tonic>": found.with_isotonic.table}
    svg = ET.fromstring(reliability_diagram(tables))
    assert svg.tag == f"{SVG}svg"
    lines = {line.findtext(f"{SVG}title"): line.attrib["points"].split() for line in svg.iter(f"{SVG}polyline")}
    assert {name: len(points) for name, points in lines.items()} == {
        "calibrated": 2,
        "before": len(found.before.table),
        "iso & <tonic>": len(found.with_isotonic.table),
    }
    width, height = map(float, svg.attrib["viewBox"].split()[2:])
    for text in svg.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    assert [text.text for text in svg.iter(f"{SVG}text")][-2:] == list(tables)
