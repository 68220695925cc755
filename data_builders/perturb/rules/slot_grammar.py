"""Slots: where in a sentence the words of a class may be exchanged, as what must stand before and after them."""

import re

from data_builders.perturb.rules.balanced_swap import SwapClass

_ENDS = r"""
    and or nor was were is are has had did does in on at with without by during due after before from through
    via as that which who because but while showed revealed confirmed demonstrated suggested supported ruled
    excluded remained would could to for against about
"""
_HEADS_OF = r"""
    absence presence lack evidence history sign signs symptoms risk cause causes development diagnosis suspicion
    possibility prevention management control treatment episodes onset findings diagnoses exclusion use
    initiation combination course means effect effects levels degree amount question issue acts accused victim
    convicted
"""
_NOUNS = {
    "DISEASE": r"""
        causes? conditions? etiolog\w+ diseases? disorders? process\w* origin changes factors? syndromes?
        mechanisms? abnormalit\w+ encephalopath\w+ myopath\w+ neuropath\w+ patholog\w+ insults? events?
        reactions?
    """,
    "SYSTEM": r"""
        symptoms? signs? status findings involvement deficits? diseases? disorders? causes complications?
        functions? dysfunction conditions? examinations? manifestations? assessments? evaluations? abnormalit\w+
        issues injur\w+
    """,
    "TISSUE": r"""
        mass masses lesions? tissues? components? areas? nodules? tumou?rs? neoplasms? cells? changes appearance
        stroma structures? formations? proliferation nodes? patterns? features margins? walls? lumps? swellings?
        infiltrat\w+
    """,
    "CARE": r"""
        therap\w+ treatments? interventions? management approach\w* excision debridement resection exploration
        repair procedures? removal drainage options? agents? care techniques? injections? regimens? strateg\w+
        measures correction decompression rehabilitation support surgery medications? biopsy control closure
        reconstruction
    """,
    "MATTER": r"""
        activit\w+ information reasons? data interests? consequences difficult\w+ situation background matters?
        ties relations\w* damage circumstances problems? needs suffering convictions views aspects?
        examinations? treatment assistance support benefits? development experts? evidence assessments? harm
        conditions purposes institutions?
    """,
    "ACT": r"""
        requests? submissions? hearings? complaints? statements? examinations? reports? visits? contacts?
        orders? consent measures? residence decisions? evidence information arrangements? letters? procedures?
        investigations? access agreements? permits? supervision surveillance search\w* warnings? meetings?
        placements? medication applications?
    """,
    "STUDY": r"""
        analys[ei]s models? data datasets? features methods? approach\w* stud(?:y ies) research factors?
        findings tests? software tools? aspects? interpretation significance information evidence variables?
        parameters changes diversity characteristics outcomes? relevance importance implications community
        communities specialists? presentation examinations? properties process\w* pathways? questions?
        specifications literature fields? sciences? training practices? settings? patterns? networks?
        distributions? variations? validation knowledge assessments? problems? work evaluations? descriptions?
        comparisons? impact effects? systems? resources? perspectives? issues? applications? measures? scores?
        images? errors? sequences? structures? styles? functions? regions? sites? samples? materials? terms?
        journals? papers? articles? publishing publications? education policy algorithms? signs? experts?
    """,
    "COURSE": r"""
        transmission infections? diseases? cases? symptoms? disorders? patients episodes? illness conditions?
    """,
    "REPORT": r"""
        reports? opinions? examinations? evidence experts? assessments? certificates? tests? findings
    """,
    "PART": r"""
        failure involvement function dysfunction disease injury lesions? insufficiency impairment metastas\w+
        masse?s? tumou?rs? abscess\w* cysts? infections? obstruction biopsy symptoms infarct\w* tuberculosis
        manifestations
    """,
    "LAW": r"""
        proceedings courts? cases? law liability chamber actions? offences? claims? complaints? code sanctions?
    """,
    "STATE": r"""
        authorit\w+ courts? government law national\w* citizen\w* legal police language legislation border
    """,
    "CUSTODY": r"""
        rights? orders? proceedings arrangements?
    """,
    "ANIMAL": r"""
        cells? models? tissues? brains? genome proteins?
    """,
}
"""Slots of adjectives: the nouns that may follow, as patterns of whole words."""


def _any(words: str) -> str:
    return "|".join(words.split())


_END = rf"\**\s*(?:[,.;:)/]|$|(?:{_any(_ENDS)})\b)"
_ITEM = (
    r"(?:^|[,;(:/]\s*|\b(?:and|or|nor|with|without|including|like|as|no|for|by|via|against|from|despite|through"
    rf"|(?:{_any(_HEADS_OF)})\s+of|due\s+to|related\s+to|secondary\s+to|not|only|both|either|also|such\s+as)\s+)\**"
)
_NOUN = r"\b(?:a|an|the|this|that|any|no|her|his|their|its|another|one|each|every|\w+['’]s|\w+s['’])\s+\**"
_NOUN_END = r"\s+(?:of|entitled|concerning|relating|regarding|dated|issued|submitted|between)\b"

SLOTS: dict[str, tuple[str, str]] = {
    "FREE": ("", ""),
    "ITEM": (_ITEM, _END),
    "NOUN": (_NOUN, f"(?:{_NOUN_END}|{_END})"),
    "NAME": (r"(?<![A-Z] )(?<!-)", r"(?!\s+[A-Z])"),
    "GERM": ("", r"(?!\**\s+[a-z]{5,}\*|\s+(?:tuberculosis|aureus|coli)\b)"),
    "RANK": ("", r"\s+(?!to\b)"),
    "COURT": ("", r"\s+Court\b"),
    **{name: ("", rf"\s+(?:{_any(nouns)})\b") for name, nouns in _NOUNS.items()},
}
"""Slot → patterns of the text before and after. `ITEM`: an entry of a list, or all that follows a preposition; `NOUN`:
after a determiner; `NAME`: no part of a longer name; the others: before one of the nouns that their words go with."""

_CLASS = re.compile(r"^\s*(?P<name>[\w ]+?)(?: (?P<slot>[A-Z]+))?:(?P<words>[^:]*?)(?=^\s*[\w ]+:|\Z)", re.M)


def classes(lexicon: str, suffix: str = "") -> tuple[SwapClass, ...]:
    """The classes of a lexicon, one a line: its name, its slot (`FREE` where none is named), a colon, and its words."""
    return tuple(
        SwapClass.parse(match["name"] + suffix, match["words"], *SLOTS[match["slot"] or "FREE"])
        for match in _CLASS.finditer(lexicon)
    )
