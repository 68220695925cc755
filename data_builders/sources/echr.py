"""ECHR argument mining: judgments of the European Court of Human Rights with expert argument spans (domain `legal`).

One case per judgment. The context is THE FACTS, cut before THE LAW (in old judgments before the Commission's opinion).
The decision is the operative part. The reference is the Court's argument for one complaint, one step per span: of the
runs of spans that end with a decision, the one with the most words on the case itself, without precedent (which the
facts can neither confirm nor deny), limited to the last `MAX_STEPS`. `meta` counts the spans that each rule left out.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import SourceError, clean, corpus_folder, numbered, one_line, read_bytes, words
from data_builders.sources.text_repair import Changes, changes_as_meta, joined_steps, repaired
from judge_r1.core.records import Case

FOLDER, DATA = "legal_echr_argmining", "gold_data"
LICENSE = "Apache-2.0 (annotations); judgment text: Council of Europe, HUDOC"
COURT, PRECEDENT, DECISION = "EGMR", "Vorherige Rechtsprechung des EGMR", "Entscheidung des EGMR"
MAX_STEPS = 8
_FACTS = re.compile(r"^[ \t]*(?:AS TO )?THE FACTS[ \t]*$", re.M)
_COMMISSION = re.compile(r"^[ \t]*PROCEEDINGS BEFORE THE COMMISSION\b", re.M)
_LAW = re.compile(r"^[ \t]*(?:AS TO )?THE LAW[ \t]*$", re.M)
_OPERATIVE = re.compile(r"^[ \t]*FOR THESE REASONS\b", re.M)
_DONE = re.compile(r"^[ \t]*Done in (?:English|French)\b", re.M)
_XML_1_1 = re.compile(rb"""(<\?xml\s+version=["'])1\.1(?=["'])""")
_CHARACTER = re.compile(rb"&#(?:x([0-9a-fA-F]+)|([0-9]+));")


@dataclass(frozen=True)
class Argument:
    """One annotated span: the party that argues, the kind of argument, and the text on one line."""

    actor: str
    kind: str
    text: str


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """At most `limit` cases, by file name (the HUDOC id). `seed` has no effect."""
    folder = corpus_folder(path, "echr", FOLDER, DATA) / DATA
    files = sorted(file for file in folder.iterdir() if file.name.endswith((".xmi", ".xmi.xz")))
    if not files:
        raise SourceError(f"{folder} holds no judgment: expected files named <HUDOC id>.xmi or .xmi.xz")
    cases = (_case(file, skipped) for file in files)
    yield from islice((case for case in cases if case is not None), limit)


def _case(file: Path, skipped: Counter[str]) -> Case | None:
    judgment, arguments = parse_xmi(read_bytes(file), str(file))
    sections = split_judgment(judgment)
    if isinstance(sections, str):
        skipped[f"echr: {sections}"] += 1
        return None
    changes = Changes()
    context, decision = (repaired(section, changes) for section in sections)
    court = [argument for argument in arguments if argument.actor == COURT]
    run = main_run(court)
    on_case = [argument for argument in run if argument.kind != PRECEDENT]
    texts = [repaired(argument.text, Changes()) for argument in on_case]
    cut = max(len(joined_steps(texts, Changes())) - MAX_STEPS, 0)
    kept = next((at for at in range(len(texts)) if len(joined_steps(texts[: at + 1], Changes())) > cut), 0)
    # Again without the steps before these, so that only changes of the steps themselves count.
    steps = joined_steps([repaired(argument.text, changes) for argument in on_case[kept:]], changes)
    if not steps:
        skipped["echr: no argument of the Court on the case itself"] += 1
        return None
    hudoc = file.name.split(".")[0]
    return Case.of(
        domain="legal",
        context=context,
        decision=decision,
        reference=numbered(steps),
        source=f"echr/{hudoc}",
        license=LICENSE,
        meta={
            "group": hudoc,
            "file": f"{DATA}/{file.name}",
            "cut_words": words(judgment) - words(context),
            "court_spans": len(court),
            "other_complaints": len(court) - len(run),
            "precedent": len(run) - len(on_case),
            "beyond_max_steps": cut,
            **changes_as_meta(changes),
        },
    )


def parse_xmi(data: bytes, where: str) -> tuple[str, list[Argument]]:
    """The judgment's text and its argument spans in document order.

    The files are declared as XML 1.1, which Python's parser may not support. They are read as 1.0, and characters that
    only 1.1 allows become spaces, which keeps offsets. Offsets count UTF-16 units, as in all UIMA files.
    """
    data, is_1_1 = _XML_1_1.subn(rb"\g<1>1.0", data, count=1)
    try:
        root = ET.fromstring(_CHARACTER.sub(_legal_in_1_0, data) if is_1_1 else data)
    except ET.ParseError as error:
        raise SourceError(f"{where} is not valid XML: {error}") from None
    sofa = next((element for element in root.iter() if "sofaString" in element.attrib), None)
    if sofa is None:
        raise SourceError(f"{where}: field sofaString (the judgment's text) is missing")
    text = sofa.attrib["sofaString"]
    names = [value for name, value in sofa.attrib.items() if name.endswith("}id")]
    units = text.encode("utf-16-le", "surrogatepass")
    found = []
    for element in root.iter():
        # Without the spans of other views, such as a translation, whose text is another one.
        if element.tag.endswith("LegalArgumentation") and element.get("sofa") in (None, *names):
            begin, end = (_offset(element, name, len(units) // 2, where) for name in ("begin", "end"))
            span = units[2 * begin : 2 * end].decode("utf-16-le", "replace")
            found.append((begin, end, Argument(element.get("Akteur", ""), element.get("ArgType", ""), one_line(span))))
    return text, [argument for _, _, argument in sorted(found, key=lambda entry: entry[:2]) if argument.text]


def _offset(element: ET.Element, name: str, length: int, where: str) -> int:
    value = element.get(name, "")
    if not value.isdecimal() or int(value) > length:
        raise SourceError(
            f"{where}: field {name} of a LegalArgumentation must be an offset up to {length}, not {value!r}"
        )
    return int(value)


def _legal_in_1_0(reference: re.Match[bytes]) -> bytes:
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    return b" " if code < 32 and code not in (9, 10, 13) else reference[0]


def split_judgment(text: str) -> tuple[str, str] | str:
    """Facts and operative part of a judgment, or the heading that is missing."""
    facts = _FACTS.search(text)
    if facts is None:
        return "no heading THE FACTS"
    law = _LAW.search(text, facts.end())
    if law is None:
        return "no heading THE LAW after THE FACTS"
    operative = _OPERATIVE.search(text, law.end())
    if operative is None:
        return "no operative part (FOR THESE REASONS) after THE LAW"
    commission = _COMMISSION.search(text, facts.end(), law.start())
    done = _DONE.search(text, operative.end())
    context = clean(text[facts.end() : (commission or law).start()])
    decision = clean(text[operative.start() : done.start() if done else len(text)])
    return (context, decision) if context else "THE FACTS are empty"


def main_run(court: list[Argument]) -> list[Argument]:
    """The run of spans with the most words on the case itself; the first one of several.

    A run ends with a decision span. Spans after the last decision count only if the judgment has no decision span.
    """
    runs: list[list[Argument]] = [[]]
    for argument in court:
        if runs[-1] and runs[-1][-1].kind == DECISION and argument.kind != DECISION:
            runs.append([])
        runs[-1].append(argument)
    decided = [run for run in runs if run and run[-1].kind == DECISION]
    return max(decided or runs, key=lambda run: sum(words(a.text) for a in run if a.kind != PRECEDENT))


SOURCES.register("echr")(
    Source(read=read, help="ECHR judgments: the Court's argument from the facts to its ruling (legal)")
)
