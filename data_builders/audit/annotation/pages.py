"""The pages of the human audit as a function of requests: no sockets here.

Everything lives under one random token, and only requests to this machine by its own name are answered, so that
neither another user's page nor a name that was pointed here can read or answer. Text of others reaches the page
escaped, and its policy lets it load nothing but the style and the script that stand beside it.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from pydantic import ValidationError

from data_builders.audit.annotation.annotations import LONGEST_NAME, LONGEST_NOTE, Answer, AnswerLog, BadAnswers, Round
from data_builders.audit.annotation.assignment import Turn, annotators, first_round, first_side, page_key, second_round
from data_builders.audit.annotation.text_diff import differences
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import explain
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import NUMBERS, PRINCIPLES
from judge_r1.core.records import ReasoningPair

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'"
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
OWN_NAMES = ("127.0.0.1", "localhost", "::1")
STATIC = {"audit.css": "text/css", "audit.js": "text/javascript"}
MOST_FIELDS = 20


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    host: str
    origin: str | None = None
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes = b""
    type: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(JudgeError):
    """A request that is answered with an error page."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Site:
    """Pairs and a log of answers, as pages under `/TOKEN/`."""

    def __init__(self, data: PairSet, log: AnswerLog, token: str) -> None:
        self.data, self.log, self.token = data, log, token
        self._pairs = data.by_id()

    def respond(self, request: Request) -> Response:
        try:
            return self._respond(request)
        except (Refused, BadAnswers) as error:
            status = error.status if isinstance(error, Refused) else 500
            return _page("message.html", status=status, title="That did not work", text=str(error))

    def _respond(self, request: Request) -> Response:
        try:
            host, url = urlsplit(f"//{request.host}").hostname, urlsplit(request.target)
        except ValueError:
            raise Refused(400, "The request cannot be read.") from None
        if host not in OWN_NAMES:
            raise Refused(403, "This page is only served to the machine it runs on.")
        if request.origin not in (None, f"http://{request.host}"):
            raise Refused(403, "This request came from another page.")
        token, _, page = url.path.lstrip("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise Refused(404, "There is no such page: use the address that the command printed.")
        if page in STATIC and request.method == "GET":
            return Response(200, (files(__package__) / "static" / page).read_bytes(), STATIC[page])
        routes = {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}
        if (route := routes.get((request.method, page))) is None:
            raise Refused(404, "There is no such page: use the address that the command printed.")
        return route(_fields(url.query.encode() if request.method == "GET" else request.body))

    def _start(self, _: Mapping[str, list[str]]) -> Response:
        answers = self.log.answers
        known = [
            (name, turn.answered, len(turn.order), second.answered if second else 0, len(second.order) if second else 0)
            for name in annotators(answers)
            for turn in [first_round(self.data, answers, name)]
            for second in [second_round(self.data, answers, name)]
        ]
        return _page("start.html", pairs=len(self.data.pairs), known=known, longest=LONGEST_NAME)

    def _show(self, fields: Mapping[str, list[str]]) -> Response:
        answers = self.log.answers
        name = _name(fields)
        first, second = first_round(self.data, answers, name), second_round(self.data, answers, name)
        wanted = _one(fields, "round", "2" if second and second.answered else "1")
        turn = second if wanted == "2" and second else first
        at = self._place(fields, turn)
        if at is None:
            left = len(second.order) if turn.round == 1 and second else 0
            return _page("done.html", turn=turn, again=left, started=bool(second and second.answered))
        return _page("pair.html", turn=turn, at=at, **self._shown(turn, at))

    def _place(self, fields: Mapping[str, list[str]], turn: Turn) -> int | None:
        """The place asked for, from 1, or that of the first pair without an answer, from 0."""
        asked = _one(fields, "at", "")
        if not asked:
            return turn.next_place()
        if not asked.isascii() or not asked.isdigit() or not 1 <= int(asked) <= len(turn.order):
            raise Refused(404, f"This round has pairs 1 to {len(turn.order)}.")
        return int(asked) - 1

    def _shown(self, turn: Turn, at: int) -> dict[str, Any]:
        """What the page may know of a pair: nothing that tells its label."""
        pair = self._pairs[turn.order[at]]
        case, answer = self.data.case_of(pair), turn.answers.get(pair.pair_id)
        side = first_side(pair, turn.annotator, turn.round)
        chosen = None if answer is None else "A" if answer.choice == side else "B"
        left, right = differences(*_in_order(pair, side))
        return {
            "domain": case.domain,
            "context": case.context,
            "decision": case.decision,
            "reasonings": (("A", left), ("B", right)),
            "key": page_key(pair.pair_id, turn.annotator, turn.round),
            "chosen": chosen,
            "marked": answer.principles if answer else (),
            "note": answer.note if answer else "",
            "longest": LONGEST_NOTE,
            "principles": PRINCIPLES,
        }

    def _answer(self, fields: Mapping[str, list[str]]) -> Response:
        answers = self.log.answers
        name, round_, key = _name(fields), _round(fields), _one(fields, "key")
        second = second_round(self.data, answers, name)
        turn = first_round(self.data, answers, name) if round_ == 1 else second
        if turn is None:
            raise Refused(409, "The second round begins when the first one is complete.")
        if round_ == 1 and second and second.answered:
            raise Refused(409, "The second round has begun, so the choices of the first one stand.")
        pair_id = next((i for i in turn.order if page_key(i, name, round_) == key), None)
        if pair_id is None:
            raise Refused(409, "This pair is not in this round any more: go on from the start page.")
        self.log.append(self._record(fields, self._pairs[pair_id], name, round_))
        query = urlencode({"annotator": name, "round": round_})
        return Response(303, headers={"Location": f"/{quote(self.token)}/pair?{query}"})

    def _record(self, fields: Mapping[str, list[str]], pair: ReasoningPair, name: str, round_: Round) -> Answer:
        side, chosen = first_side(pair, name, round_), _one(fields, "choice", "")
        if chosen not in ("A", "B"):
            raise Refused(400, "Choose A or B first.")
        other = "B" if side == "A" else "A"
        try:
            return Answer.model_validate(
                {
                    "annotator": name,
                    "round": round_,
                    "pair_id": pair.pair_id,
                    "choice": side if chosen == "A" else other,
                    "shown_first": side,
                    "principles": [n for n in NUMBERS if str(n) in fields.get("principle", [])],
                    "note": _one(fields, "note", "").replace("\r\n", "\n"),
                    "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                    "schema": 1,
                }
            )
        except ValidationError as error:
            raise Refused(400, f"The answer was not kept: {explain(error)}.") from None


def _in_order(pair: ReasoningPair, first: str) -> tuple[str, str]:
    sides = (pair.reasoning_a, pair.reasoning_b)
    return sides if first == "A" else (sides[1], sides[0])


def _fields(data: bytes) -> dict[str, list[str]]:
    try:
        text = data.decode("ascii")
        return parse_qs(
            text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Refused(400, "The request cannot be read.") from None


def _one(fields: Mapping[str, Sequence[str]], name: str, otherwise: str | None = None) -> str:
    found = fields.get(name, [] if otherwise is None else [otherwise])
    if len(found) != 1:
        raise Refused(400, f"The request needs one field {name}.")
    return found[0]


def _name(fields: Mapping[str, Sequence[str]]) -> str:
    name = " ".join(_one(fields, "annotator", "").split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise Refused(400, f"A name has 1 to {LONGEST_NAME} characters.")
    return name


def _round(fields: Mapping[str, Sequence[str]]) -> Round:
    text = _one(fields, "round")
    if text not in ("1", "2"):
        raise Refused(400, "There are rounds 1 and 2.")
    return 1 if text == "1" else 2


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__package__, "static")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _page(template: str, *, status: int = 200, **fields: Any) -> Response:
    return Response(status, _templates().get_template(template).render(**fields).encode())
