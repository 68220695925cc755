"""The episode as a pure state machine: no I/O, no model, no torch.

    <think>…</think>  <search>query</search>  <information>…</information>  <answer>{json}</answer>

With tools (`Budget.tool_budgets`) there is also `<tool>NAME⏎INPUT</tool>`, whose result comes back as an observation.

A driver reads `state`, samples, searches or runs a tool, and calls `feed` with ids, `observe` with passages or
`observe_result` with a result. The state machine stores the ids as sampled (token in, token out), decodes them
incrementally, acts on the first complete action outside an open block, renders observations and enforces the budgets.
Only sampled text is parsed.

    while not isinstance(state := episode.state, Finished):
        if isinstance(state, Sample):
            episode.feed(*sample(episode, state.max_tokens))  # ids and their log-probabilities
        elif isinstance(state, Search):
            episode.observe(search(state.query))
        else:
            episode.observe_result(run(state.tool, state.text))
    episode.trajectory().judgment
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from judge_r1.core.records import INFRASTRUCTURE, ToolCall, Trajectory, Turn, evidence_of
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.answer_text import after_thoughts
from judge_r1.episode.config import Budget, BudgetTooSmall
from judge_r1.episode.parsing import Rejected, parse_strict
from judge_r1.episode.tags import GRAMMAR, TOOL, Grammar, StreamDecoder, TagScanner, grammar
from judge_r1.episode.tools.base import TOOLS, CaseScope, ToolResult
from retrieval.words import terms

NOTHING_FOUND = "nothing found"
"""No passage of the case has a term of the query. Only BM25 can tell: embeddings always have a nearest passage."""
NOTHING_FITS = "no passage fits here"


class EpisodeTokenizer(Protocol):
    """What an episode uses of a tokenizer (`judge_r1.episode.tokenizer.SafeTokenizer`)."""

    @property
    def bytewise(self) -> bool:
        """Whether each id stands for fixed bytes: the text of ids is that of all their bytes."""

    def decode(self, ids: Sequence[int]) -> str: ...
    def encode_trusted(self, text: str) -> list[int]: ...
    def encode_untrusted(self, text: str) -> list[int]: ...


def render(
    tokenizer: EpisodeTokenizer, passages: Sequence[str], notice: str, grammar: Grammar = GRAMMAR
) -> tuple[list[int], str]:
    """An observation as ids and as text. The frame is trusted, the passages are not."""
    ids: list[int] = tokenizer.encode_trusted("<information>")
    text = "<information>"
    for number, passage in enumerate(passages, 1):
        head, body = f"\n[{number}]", " " + grammar.escape(passage)
        ids += tokenizer.encode_trusted(head) + tokenizer.encode_untrusted(body)
        text += head + body
    tail = f"\n({notice})</information>"
    return ids + tokenizer.encode_trusted(tail), text + tail


def render_result(
    tokenizer: EpisodeTokenizer, name: str, output: str, notice: str, limit: int, grammar: Grammar
) -> tuple[list[int], str, str]:
    """The result of a tool as ids, as text, and what it shows of the output. Of an output of more than `limit` tokens
    with its frame, the first and the last ones are shown. The frame is trusted, the output is not."""
    head, tail = f"<information>\n[{name}]", f"\n({notice})</information>"
    frame = len(tokenizer.encode_trusted(head)) + len(tokenizer.encode_trusted(tail))
    shown = " " + grammar.escape(output)
    body = tokenizer.encode_untrusted(shown)
    whole, space = body, limit - frame
    while frame + len(body) > limit and space > 0:
        first, last = whole[: (space + 1) // 2], whole[len(whole) - space // 2 :]
        mark = _left_out(len(whole) - space)
        body = [*first, *tokenizer.encode_trusted(mark), *last]
        shown = tokenizer.decode(first) + mark + tokenizer.decode(last)
        space -= frame + len(body) - limit  # what the mark takes
    ids = tokenizer.encode_trusted(head) + body + tokenizer.encode_trusted(tail)
    return ids, head + shown + tail, shown.removeprefix(" ")


def _left_out(tokens: int) -> str:
    return f"\n… {tokens} tokens left out …\n"


def query_too_long(longest: int, left: int) -> str:
    """The notice after a query of more words than `Budget.query_words`."""
    return f"the query has more than {longest} word{'s' * (longest > 1)}; {left} searches left"


def no_action_notice(left: int) -> str:
    """The notice after a turn that neither searched nor answered."""
    return (
        "no action found: write a query between <search> and </search>, or the judgment between <answer> and "
        f"</answer>; {left} searches left"
    )


def _calls_left(name: str, left: int) -> str:
    return f"{left} {name} calls left"


NO_CALLS_LEFT = "no calls left"
"""The notice after a call past the budget of all tools."""
_PROMPT_END = 8
"""Number of ids at the end of a prompt that are checked for an open `<think>`, which is several ids in vocabularies
without such a token."""


@dataclass(frozen=True)
class Sample:
    """Sample up to `max_tokens` more ids, stopping at `Episode.stop_strings` or EOS."""

    max_tokens: int


@dataclass(frozen=True)
class Search:
    """Search this episode's case and call `observe` with the passages."""

    query: str


@dataclass(frozen=True)
class Call:
    """Run a tool with this input and call `observe_result`."""

    tool: str
    text: str


@dataclass(frozen=True)
class Finished:
    """The episode is over. `reason` is "answer" if there is a judgment, else the name of the failure. `detail` is the
    message of a server that gave no answer."""

    reason: str
    judgment: Judgment | None = None
    detail: str | None = None


State = Sample | Search | Call | Finished


class Episode:
    """One episode.

    Args:
        eos_ids: Ids that end the episode.
        parse: Turns the text between the answer tags into a judgment.
        parse_bare: Set for prompts whose answer has no tags. The answer is then all text before EOS, in one turn,
            without thoughts.
        bare_text: What of that text `parse_bare` reads: in rewards what follows `</think>`, for judges `answer_text`.
        seed: Seed for sampling.
        scope: What tools may see of the case. Passages that the episode shows are added.

    Raises:
        BudgetTooSmall: An observation has no space for its notice.
        JudgeError: A tool needs a package that is missing.
    """

    def __init__(
        self,
        prompt_ids: Sequence[int],
        budget: Budget,
        tokenizer: EpisodeTokenizer,
        *,
        eos_ids: Collection[int] = (),
        parse: Callable[[str], Judgment | Rejected] = parse_strict,
        parse_bare: Callable[[str], Judgment | Rejected] | None = None,
        bare_text: Callable[[str], str] = after_thoughts,
        seed: int = 0,
        scope: CaseScope | None = None,
    ) -> None:
        self.prompt_ids = tuple(prompt_ids)
        self.budget = budget
        self.grammar = grammar(tools=bool(budget.tool_budgets))
        self.scope = replace(scope or CaseScope(), passage_words=budget.passage_words)
        self._calls = dict.fromkeys(budget.tool_budgets, 0)
        self._unknown_calls = 0
        self.seed = seed
        self.token_ids: list[int] = []
        self.loss_mask: list[int] = []
        self.logprobs: list[float] = []
        self.turns: list[Turn] = []
        self.alternative_logprobs: dict[int, float] = {}
        """Index in `token_ids` -> log-probability of the token for the opposite verdict, where the model returned it.
        It is not part of the trajectory."""
        self.tokenizer, self.eos_ids = tokenizer, frozenset(eos_ids)
        self._parse, self._parse_bare, self._bare_text = parse, parse_bare, bare_text
        self._searches = 0
        self._state: State
        self._check_notices_fit()
        self._begin_turn()
        if tokenizer.decode(self.prompt_ids[-_PROMPT_END:]).rstrip().endswith("<think>"):
            self._scanner.push("<think>")  # some chat templates open the first thought

    @property
    def state(self) -> State:
        """The next task of the driver."""
        return self._state

    @property
    def thinking(self) -> bool:
        """Whether a thought is open. A chat template may open one at the start."""
        return self._scanner.open == "think"

    @property
    def open(self) -> str | None:
        """The block that is open: "think", "search", "tool" or "answer"."""
        return self._scanner.open

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """The texts at which a sample stops."""
        return self.grammar.stop_strings if self.answer_in_tags else ()

    @property
    def answer_in_tags(self) -> bool:
        """Whether the answer is between tags, not bare in one turn."""
        return self._parse_bare is None

    def feed(self, ids: Sequence[int], logprobs: Sequence[float]) -> int:
        """Append sampled ids with their log-probabilities. Returns the number of ids used: ids after EOS, or after the
        id that completes an action, are dropped."""
        if not isinstance(self._state, Sample):
            raise RuntimeError(f"feed() in state {self._state}: the episode does not wait for tokens")
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(ids)} ids with {len(logprobs)} log-probabilities")
        used, left, action, ended, bare = 0, self._left(), None, False, False
        for token in ids:
            used += 1
            ended = token in self.eos_ids
            # An EOS inside a thought ends no bare answer: it is decoded below, and the turn ends as unclosed_think.
            bare = ended and self._parse_bare is not None and not self._scanner.open
            if bare:
                break
            action = self._scanner.push(self._stream.push(token))
            if action is not None or ended or used >= left:
                break
        self._append(ids[:used], 1, logprobs[:used])
        self._turn_tokens += used
        # An action comes before the budget: the last token of the budget may complete it.
        if bare:
            assert self._parse_bare
            self._judge(self._parse_bare, self._bare_text(self._scanner.text + self._stream.flush()))
        elif action is not None:
            self._act(*action)
        elif ended:
            self._without_action("no_answer")
        elif used >= left:
            self._without_action("turn_budget")
        else:
            self._state = Sample(left - used)
        return used

    def observe(self, passages: Sequence[Evidence]) -> list[int]:
        """Append the passages found by the search. Returns the ids of the observation (mask 0)."""
        if not isinstance(self._state, Search):
            raise RuntimeError(f"observe() in state {self._state}: the episode does not wait for passages")
        query, left = self._state.query, self.budget.max_searches - self._searches
        shown = list(passages)
        # The worst passages are left out whole: evidence that is cut inside a sentence can lose a negation.
        while True:
            notice = f"{left} searches left"
            if not shown:
                notice = f"{NOTHING_FITS if passages else NOTHING_FOUND}; {notice}"
            ids, text = render(self.tokenizer, [p.text for p in shown], notice, self.grammar)
            if len(ids) <= self.budget.observation_tokens or not shown:
                break
            shown.pop()
        return self._continue(ids, text, query, tuple(shown), len(passages) - len(shown), notice=None)

    def observe_result(self, result: ToolResult) -> list[int]:
        """Append the result of a tool. Returns the ids of the observation (mask 0)."""
        if not isinstance(self._state, Call):
            raise RuntimeError(f"observe_result() in state {self._state}: the episode does not wait for a tool")
        name, given, limit = self._state.tool, self._state.text, self.budget.tool_budgets[self._state.tool]
        notice, shown = _calls_left(name, self._calls_left(name)), list(result.passages)
        while shown:
            ids, text = render(self.tokenizer, [p.text for p in shown], notice, self.grammar)
            if len(ids) <= limit.output_tokens:
                call = ToolCall(name=name, input=given, status=result.status)
                return self._continue(ids, text, None, tuple(shown), len(result.passages) - len(shown), None, call)
            shown.pop()
        output = NOTHING_FITS if result.passages else result.text
        ids, text, read = render_result(self.tokenizer, name, output, notice, limit.output_tokens, self.grammar)
        call = ToolCall(name=name, input=given, status=result.status, output=read)
        return self._continue(ids, text, None, (), len(result.passages), None, call)

    def abort(self, reason: str, detail: str | None = None) -> None:
        """End the episode with an infrastructure failure, for example a search timeout. `detail` is the server's
        message."""
        self.end(f"{INFRASTRUCTURE}{reason}", detail)

    def end(self, reason: str, detail: str | None = None) -> None:
        """End the episode without an answer for a reason that counts against the judge: it declined to answer, or the
        prompt exceeds its context."""
        if isinstance(self._state, Finished):
            raise RuntimeError(f"end({reason!r}) in state {self._state}: the episode is over")
        self._finish(reason, detail=detail or None)

    def truncate(self) -> None:
        """End the turn because the server stopped at its token limit."""
        if isinstance(self._state, Finished):
            raise RuntimeError(f"truncate() in state {self._state}: the episode is over")
        self._without_action("turn_budget")

    def trajectory(self) -> Trajectory:
        """The episode so far as a record."""
        finished = self._state if isinstance(self._state, Finished) else Finished("unfinished")
        judgment = finished.judgment
        if judgment is not None:
            # What the episode showed. An answer may claim any evidence.
            judgment = judgment.model_copy(update={"evidence": evidence_of(self.turns)})
        return Trajectory(
            prompt_ids=self.prompt_ids,
            token_ids=tuple(self.token_ids),
            loss_mask=tuple(self.loss_mask),
            logprobs=tuple(self.logprobs),
            turns=tuple(self.turns),
            judgment=judgment,
            ended=finished.reason,
            detail=finished.detail,
        )

    def _check_notices_fit(self) -> None:
        """Checks at the start what can fail in the last turn of a long run: an observation without any passage."""
        for name, tool in self.budget.tool_budgets.items():
            TOOLS.get(name).require()
            notices = [self._no_such_tool(), NO_CALLS_LEFT, _calls_left(name, tool.max_calls)]
            cut = render_result(self.tokenizer, name, _left_out(10**7), notices[-1], 10**9, self.grammar)[0]
            needed = max(len(cut), *(len(render(self.tokenizer, [], notice)[0]) for notice in notices))
            if needed > tool.output_tokens:
                raise BudgetTooSmall(
                    f"tools.{name}.output_tokens {tool.output_tokens} cannot hold a result without text, which "
                    f"has {needed} tokens with this tokenizer: raise it, and leave space for text"
                )
        if not self.budget.max_searches:
            return
        notices = [
            f"{reason}; {self.budget.max_searches - 1} searches left" for reason in (NOTHING_FITS, NOTHING_FOUND)
        ]
        if self.budget.no_action == "notice":
            notices.append(no_action_notice(self.budget.max_searches - 1))
        if self.budget.query_words is not None:
            notices.append(query_too_long(self.budget.query_words, self.budget.max_searches - 1))
        needed = max(len(render(self.tokenizer, [], notice)[0]) for notice in notices)
        if needed > self.budget.observation_tokens:
            raise BudgetTooSmall(
                f"budget.observation_tokens {self.budget.observation_tokens} cannot hold an observation without "
                f"passages, which has {needed} tokens with this tokenizer: raise it, and leave space for passages"
            )

    def _begin_turn(self) -> None:
        # Both are new in each turn, so no tag that is open before an observation is closed by text after it.
        self._stream = StreamDecoder(self.tokenizer.decode, bytewise=self.tokenizer.bytewise)
        self._scanner = TagScanner(actions=self.answer_in_tags, grammar=self.grammar)
        self._turn_tokens = 0
        self._state = Sample(self._left())

    def _left(self) -> int:
        """Number of tokens that this turn may still sample."""
        turn = self.budget.response_tokens - self._turn_tokens
        return min(turn, self.budget.episode_tokens - len(self.token_ids))

    def _append(self, ids: Sequence[int], mask: int, logprobs: Sequence[float]) -> None:
        self.token_ids.extend(ids)
        self.loss_mask.extend([mask] * len(ids))
        self.logprobs.extend(logprobs)

    def _act(self, kind: str, content: str) -> None:
        if kind == "answer":
            self._judge(self._parse, content)
            return
        if kind == TOOL:
            self._call(content)
            return
        query = content.strip()
        if self._searches >= self.budget.max_searches:
            self._reply_with_notice(query, "no searches left: answer now")
            return
        # Before the query is checked: a query that cannot run costs a search, too. Else a policy could write such
        # queries until its tokens are used up.
        self._searches += 1
        longest, left = self.budget.query_words, self.budget.max_searches - self._searches
        if not query:
            self._reply_with_notice(query, f"empty query; {left} searches left")
        elif longest is not None and len(terms(query)) > longest:
            self._reply_with_notice(query, query_too_long(longest, left))
        else:
            self._state = Search(query)

    def _call(self, content: str) -> None:
        """Start a call. Each one costs budget, also of an unknown tool or with an input that cannot run. Else a policy
        could write such calls until its tokens are used up."""
        first, _, given = content.lstrip().partition("\n")
        name = first.strip()
        known = name in self._calls
        refused = ToolCall(name=name, input=given, status="refused")
        left = self._calls_left(name) if known else self._calls_left()
        if left <= 0:
            spent = _calls_left(name, 0) if known and self._calls_left() > 0 else NO_CALLS_LEFT
            self._reply_with_notice(None, spent, otherwise="call_past_budget", call=refused)
            return
        if known:
            self._calls[name] += 1
        else:
            self._unknown_calls += 1
        if not known:
            self._reply_with_notice(None, self._no_such_tool(), otherwise="call_past_budget", call=refused)
        elif notice := TOOLS.get(name).check(given):
            notice = f"{notice}; {_calls_left(name, left - 1)}"
            self._reply_with_notice(None, notice, otherwise="call_past_budget", call=refused)
        else:
            self._state = Call(name, given)

    def _calls_left(self, name: str | None = None) -> int:
        """Calls left of a tool, or of all tools. Calls of unknown tools count against all."""
        budgets = self.budget.tool_budgets
        left = sum(tool.max_calls for tool in budgets.values()) - sum(self._calls.values()) - self._unknown_calls
        return left if name is None else min(left, budgets[name].max_calls - self._calls[name])

    def _no_such_tool(self) -> str:
        # Without the name, which is text of the policy: a notice is trusted.
        return f"no such tool; write one of {', '.join(self._calls)} on the first line; {self._calls_left()} calls left"

    def _without_action(self, reason: str) -> None:
        """End a turn that has neither a search nor an answer."""
        reason = self._open_reason(reason)
        if self.budget.no_action == "end" or self._searches >= self.budget.max_searches:
            self._finish(reason)
            return
        self._searches += 1
        notice = no_action_notice(self.budget.max_searches - self._searches)
        self._reply_with_notice(None, notice, otherwise=reason)

    def _judge(self, parse: Callable[[str], Judgment | Rejected], text: str) -> None:
        verdict = parse(text)
        if isinstance(verdict, Rejected):
            self._finish(f"rejected_{verdict.reason}")
        else:
            self._finish("answer", verdict)

    def _reply_with_notice(
        self, query: str | None, notice: str, otherwise: str = "search_past_budget", call: ToolCall | None = None
    ) -> None:
        """Reply to a turn whose search cannot run with a notice. Without space for it the episode ends as
        `otherwise`."""
        ids, text = render(self.tokenizer, [], notice)
        # `>=`, because the next turn needs at least one token.
        if len(self.token_ids) + len(ids) >= self.budget.episode_tokens:
            self._finish(otherwise)
        else:
            self._continue(ids, text, query, (), 0, notice, call)

    def _continue(
        self,
        ids: list[int],
        text: str,
        query: str | None,
        shown: tuple[Evidence, ...],
        dropped: int,
        notice: str | None,
        call: ToolCall | None = None,
    ) -> list[int]:
        self._append(ids, 0, [0.0] * len(ids))  # 0.0 keeps the lists parallel; the mask excludes it
        written = self._scanner.text + self._stream.flush()
        self.turns.append(
            Turn(
                text=written,
                query=query,
                passages=shown,
                passages_dropped=dropped,
                notice=notice,
                observation=text,
                call=call,
            )
        )
        if shown:
            self.scope = replace(self.scope, shown=shown)
        self._begin_turn()
        return ids

    def _open_reason(self, otherwise: str) -> str:
        return f"unclosed_{self._scanner.open}" if self._scanner.open else otherwise

    def _finish(self, reason: str, judgment: Judgment | None = None, detail: str | None = None) -> None:
        written = self._scanner.text + self._stream.flush()
        if written or reason == "answer" or reason.startswith("rejected_"):  # an answer may be empty: EOS came first
            self.turns.append(Turn(text=written))
        self._state = Finished(reason, judgment, detail)
