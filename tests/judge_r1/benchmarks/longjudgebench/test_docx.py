from pathlib import Path

import pytest
from longjudgebench_factories import make_docx, raw_docx

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench.real_dr import docx_text


def test_paragraphs_and_optional_tables(tmp_path: Path) -> None:
    path = make_docx(tmp_path / "d.docx", "One.", "Two &amp; three.", table=[["a", "b"], ["1", "2"]])
    assert docx_text(path) == "One.\nTwo & three."
    assert docx_text(path, tables=True) == "One.\na | b\n1 | 2\nTwo & three."


def test_runs_links_breaks_and_tabs_without_text_boxes(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/></w:r><w:hyperlink><w:r><w:t>c</w:t></w:r></w:hyperlink>"
        '<w:r><w:br w:type="page"/><w:t>d</w:t></w:r><w:r><w:drawing><w:p><w:r><w:t>box</w:t></w:r></w:p></w:drawing>'
        "</w:r></w:p><w:p/>"
    )
    assert docx_text(raw_docx(tmp_path / "d.docx", body)) == "a\tb\ncd\n"


def test_invalid_docx_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "d.docx"
    path.write_text("plain")
    with pytest.raises(BadBenchmark, match=r"d\.docx is not a \.docx file"):
        docx_text(path)
    with pytest.raises(BadBenchmark, match=r"gone\.docx is not a \.docx file"):
        docx_text(tmp_path / "gone.docx")


def test_xml_entities_are_rejected(tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "d.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", '<!DOCTYPE x [<!ENTITY a "aa">]><x>&a;</x>')
    with pytest.raises(BadBenchmark, match="declares XML entities"):
        docx_text(path)
