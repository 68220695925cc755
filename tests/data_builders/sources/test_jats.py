"""JATS to text: blocks in reading order, figures after the surrounding text, no front matter or sub-articles."""

import gzip
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from data_builders.sources.corpus_io import SourceError
from data_builders.sources.jats import article_text, read_article, title_of

ARTICLE = """<article article-type="research-article" xmlns:xlink="http://www.w3.org/1999/xlink">
<front><article-meta><title-group><article-title>On <italic>E. coli</italic></article-title></title-group>
<abstract><p>We grew 12 strains. DOI: <ext-link>http://dx.doi.org/10.7554/eLife.1</ext-link></p></abstract>
<abstract abstract-type="executive-summary"><p>An editor's digest.</p></abstract>
<kwd-group><kwd>bacteria</kwd></kwd-group></article-meta></front>
<body><sec><title>Results</title>
<p>They grew<xref ref-type="bibr">1</xref> fast (Figure 1).<fig-group>
<fig><object-id>x</object-id><label>Figure 1.</label><caption><title>Growth.</title><p>Bars: 2 mm.</p>
<p>DOI: http://dx.doi.org/10.7554/eLife.1.2</p></caption><graphic/></fig>
<fig><label>Figure 1S.</label><caption><title>More.</title></caption></fig></fig-group> Then they stopped.</p>
<sec><title>Counts</title><table-wrap><label>Table 1.</label><caption><title>Cells.</title></caption>
<table><thead><tr><th>Day</th><th>n</th></tr></thead><tbody><tr><td>1</td><td>40</td></tr></tbody></table>
<table-wrap-foot><p>n, number.</p></table-wrap-foot></table-wrap></sec>
<list><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list></sec></body>
<back><ref-list><ref>Doe 2001</ref></ref-list></back>
<sub-article article-type="decision-letter"><body><p>Revise.</p></body></sub-article></article>"""


def test_an_article_has_title_abstract_and_body_in_reading_order() -> None:
    root = ET.fromstring(ARTICLE)
    assert title_of(root) == "On E. coli"
    assert article_text(root).split("\n\n") == [
        "On E. coli", "Abstract", "We grew 12 strains.", "Results", "They grew fast (Figure 1). Then they stopped.",
        "Figure 1. Growth. Bars: 2 mm.", "Figure 1S. More.", "Counts", "Table 1. Cells.\nDay | n\n1 | 40\nn, number.",
        "one", "two",
    ]  # fmt: skip


def test_an_invalid_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress(b"<article>"))
    with pytest.raises(SourceError, match=r"a\.xml\.gz is not valid XML"):
        read_article(tmp_path / "a.xml.gz")
    (tmp_path / "b.xml").write_text("<html/>")
    with pytest.raises(SourceError, match=r"b\.xml is not a JATS article: its root is <html>"):
        read_article(tmp_path / "b.xml")


def test_tables_beside_their_picture_and_floats_after_the_body_are_read() -> None:
    """As PLoS ONE (pone.0046493) and the British Journal of Cancer (6605965a) write them in the files of PMC."""
    table = "<table><tbody><tr><td>Age</td><td>51.5</td></tr></tbody></table>"
    wrap = f"<table-wrap><label>Table 1</label><alternatives><graphic/>{table}</alternatives></table-wrap>"
    floats = "<floats-group><fig><label>Figure 1</label><caption><p>Risk.</p></caption></fig></floats-group>"
    article = f"<article><body><sec><p>See the table.</p>{wrap}</sec></body><back/>{floats}</article>"
    assert article_text(ET.fromstring(article)).split("\n\n") == [
        "See the table.", "Table 1\nAge | 51.5", "Figure 1 Risk.",
    ]  # fmt: skip
