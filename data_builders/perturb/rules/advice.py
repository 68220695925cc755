"""P5 and P6: an instruction or a reason becomes vague, and a safeguard is dropped or turned into its opposite."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import is_leaned_on, operator
from data_builders.text_units.clauses import measures, reasons, tasks
from data_builders.text_units.edits import Edit, Interval
from data_builders.text_units.steps import Step, body_sentences, body_start
from judge_r1.core.records import Case


class _Advice(Lexicon):
    """`vague`: kind of place → texts for it. `safeguards`: pattern → its replacement, a template of `re`."""

    vague: dict[str, tuple[str, ...]]
    safeguards: tuple[tuple[str, str], ...]


def _becauses(text: str, start: int, end: int) -> Iterator[Interval]:
    """The reasons that open with `because`. Others, as in `interpreted in the light of`, say how and not only why."""
    return (at for at in reasons(text, start, end) if text.startswith("because ", at[0]))


_ADVICE = load_lexicon("advice", dict[str, _Advice])
_FIND: Mapping[str, Callable[[str, int, int], Iterable[Interval]]] = {
    "task": tasks,
    "measure": measures,
    "reason": reasons,
    "because": _becauses,
}
MIN_REPLACED = 5
"""Words of an instruction that has something to lose."""
_NOT_VAGUE = re.compile(
    r"(?:be )?(?:reali[sz]e|recalled|recall|noted?|observed|said|stressed|emphasi[sz]ed|borne|understood|known?"
    r"|remember|addressed|considered|declared|made clear|reproached)\b|\w+ (?:is|are)\b|(?:\w+ ){2,3}which\b"
    r"|.*, that (?:the|there|this|it)\b|.*\babove-?\w*\b|given (?!the|that|its|how|an?\b)|due to (?:its|their)\b"
)
"""Instructions that ask for no action, and grounds that reach into the next clause or refer to others."""
_OPEN = re.compile(
    r"\b(?:whether|what|which|how|if|question)\b[^,;]*$|\b(?:mainly|also|already|primarily) $|\bbeen (?:a|no) ",
    re.IGNORECASE,
)
"""What precedes a vague ground that reads oddly: an open question, an adverb that weighs grounds, a court's holding."""
_GROUND = re.compile(r"[^.;]*\b(?:because|since|as (?:it|they|this|these)|due to|given)\b")
_OWN_REFERENT = re.compile(r"\W*(?:Since|As|If|Given|Because|When|While|Although)\b")
_JUDGED = re.compile(
    r"\b(?:consider|find|conclu|justif|necess|violat|interfer|proportion|lawful|effective|sufficien|insufficien"
    r"|reasonabl|accept|unlikely|likely|exclud|ruled out|suspect|confirm|important|chosen|selected|appropriate"
    r"|indicated"
    r"|contraindicat|typical|atypical|favou?r|recommend|suggest|support|deemed|diagnos|useful|interesting|convinc|clear"
    r"|limitation|should|difficult|informative|problem|valuable|expect|agree|thought|question|serious|strong|weak)\w*",
    re.IGNORECASE,
)
"""Words of a judgement, for which a reason is given. Without one, `because` tells the cause of an event."""


def _advice(case: Case) -> _Advice:
    return _ADVICE.get(case.domain, _ADVICE["general"])


@operator(5, "vague")
def vague(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replace what should be done, or the ground of a conclusion, by words that say nothing definite."""
    for kind, texts in _advice(case).vague.items():
        for start, end in body_sentences(step, 6):
            for at in _FIND[kind](step.text, start, end):
                old, before = step.text[slice(*at)], step.text[start : at[0]]
                is_open = _NOT_VAGUE.match(old) or _OPEN.search(before) or step.text[end - 1] == "?"
                fits = _JUDGED.search(before) if kind in ("reason", "because") else _has_referent(step, start, at[1])
                if len(old.split()) >= MIN_REPLACED and fits and not is_open and not is_leaned_on(step, end):
                    new = rng.choice(texts)
                    yield step.edit(at, new[0].upper() + new[1:] if old[0].isupper() else new)


def _has_referent(step: Step, start: int, after: int) -> bool:
    """Whether a vague instruction can refer to a sentence before it in its item, and to nothing in its own."""
    opens_item = start == body_start(step) and (start > 0 or step.start == 0)
    return not opens_item and not _OWN_REFERENT.match(step.text, start) and step.text[after : after + 1] != ":"


@operator(6, "dropped_safeguard")
def dropped_safeguard(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Drop a warning or a safeguard, or turn it into its opposite."""
    for pattern, new in _advice(case).safeguards:
        for match in re.finditer(pattern, step.text):
            # A ground of the safeguard would refute the flaw.
            if not _GROUND.match(step.text, match.end()):
                yield step.edit(match.span(), match.expand(new))
