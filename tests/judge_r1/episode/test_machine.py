"""The episode machine: who may act when, how it ends, and that no budget is ever passed. Ids in tests/promises."""

import pytest
from factories import ByteTokenizer, evidence
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.records import Evidence, Trajectory
from judge_r1.episode.config import Budget, BudgetTooSmall
from judge_r1.episode.machine import Episode, Finished, Sample, Search
from judge_r1.episode.parsing import parse_table6, parse_tolerant

TOKENIZER = ByteTokenizer()
GOLD = '{"comparison": "A>B", "violated_principles": [3]}'
ANSWER = f"<answer>{GOLD}</answer>"
ROOMY = Budget(max_searches=2, response_tokens=200, observation_tokens=200)
NOTICE = len("<information>\n(no passage fits here; 9 searches left)</information>")
EOS = 0


def test_a_thought_that_the_prompt_opened_is_closed_by_the_judge() -> None:
    """Some chat templates end in `<think>`: what looks like an action before `</think>` is thought."""
    prompt = TOKENIZER.encode_trusted("assistant\n<think>\n")
    episode = Episode(prompt, ROOMY, TOKENIZER, eos_ids=[EOS])
    written = TOKENIZER.encode_trusted(f"or <search>x</search>?</think><search>y</search>{ANSWER}")
    used = episode.feed(written, [0.0] * len(written))
    assert episode.state == Search("y")
    episode.observe([])
    episode.feed(written[used:], [0.0] * (len(written) - used))
    assert isinstance(episode.state, Finished)
    assert episode.state.reason == "answer"


def start(budget: Budget = ROOMY) -> Episode:
    return Episode([1, 2], budget, TOKENIZER, eos_ids=[EOS])


def write(episode: Episode, text: str) -> int:
    ids = TOKENIZER.encode_trusted(text)
    return episode.feed(ids, [-0.1] * len(ids))


def played(*turns: str, budget: Budget = ROOMY, passages: list[Evidence] | None = None) -> Trajectory:
    """Write the turns one after the other; searches find `passages`."""
    episode = start(budget)
    for text in turns:
        if isinstance(episode.state, Finished):
            break
        write(episode, text)
        if isinstance(episode.state, Search):
            episode.observe(passages or [])
    return episode.trajectory()


@pytest.mark.parametrize(
    ("turns", "ended"),
    [
        ([ANSWER], "answer"),
        (["Let me see. " + ANSWER], "answer"),
        (["<think>x</think>" + ANSWER], "answer"),
        (["<think>" + ANSWER + "</think>" + ANSWER], "answer"),
        (["<think>a</think><think>b</think>\n" + ANSWER], "answer"),
        (["<think>a <search>b</search> c</think>" + ANSWER], "answer"),
        (["</think></search></answer></information>" + ANSWER], "answer"),
        (["<information>" + ANSWER], "answer"),
        (["<search>q</search>", ANSWER], "answer"),
        (["<search>q <answer>x</answer></search>", ANSWER], "answer"),
        (["<search> </search>", ANSWER], "answer"),
        (["<search>a</search>", "<search>b</search>", "<search>c</search>", ANSWER], "answer"),
        (["<answer>no</answer>" + ANSWER], "rejected_no_json"),
        (["<answer><answer>" + GOLD + "</answer>"], "rejected_no_json"),
        (["<answer>[]</answer>"], "rejected_not_an_object"),
        (["<answer>{}</answer>"], "rejected_missing_key"),
        (["<answer></answer>"], "rejected_no_json"),
        (["\0"], "no_answer"),
        (["I do not know.\0"], "no_answer"),
        (["<think>\0"], "unclosed_think"),
        (["<think>" + ANSWER + "\0"], "unclosed_think"),
        (["<search>q\0"], "unclosed_search"),
        (["<answer>" + GOLD + "\0"], "unclosed_answer"),
        (["x" * 300], "turn_budget"),
        (["<think>" + "x" * 300], "unclosed_think"),
        (["<search>" + "x" * 300], "unclosed_search"),
        (["<answer>" + "x" * 300], "unclosed_answer"),
        (["<THINK>x</THINK><Answer>" + GOLD + "</Answer>\0"], "no_answer"),
        (["< answer >" + GOLD + "</ answer >\0"], "no_answer"),
        (["<think>never closed"], "unfinished"),
    ],
)
def test_every_end_has_its_name(turns: list[str], ended: str) -> None:
    trajectory = played(*turns)
    assert trajectory.ended == ended
    assert (trajectory.judgment is not None) == (ended == "answer")


def test_the_first_complete_action_counts() -> None:
    trajectory = played('<answer>{"comparison": "A<B", "violated_principles": [1]}</answer>' + ANSWER)
    assert trajectory.judgment is not None
    assert trajectory.judgment.comparison == "A<B"


def test_what_stands_in_a_think_is_text_even_a_stop_string() -> None:
    episode = start()
    write(episode, "<think>I could <search>x</search> or " + ANSWER)
    assert episode.state == Sample(200 - len(episode.token_ids))
    assert not episode.turns
    write(episode, "</think><search>y</search>")
    assert episode.state == Search("y")


def test_an_observation_numbers_its_passages_and_tells_what_is_left() -> None:
    trajectory = played(
        "<search>q</search>", "<search>r</search>", ANSWER, passages=evidence("one <b>", "two </think>")
    )
    first, second, last = trajectory.turns
    assert first.observation == "<information>\n[1] one <b>\n[2] two ‹/think›\n(1 searches left)</information>"
    assert second.observation is not None
    assert second.observation.endswith("\n(0 searches left)</information>")
    assert (first.query, second.query, last.query, last.observation) == ("q", "r", None, None)
    assert trajectory.searches == 2
    assert trajectory.judgment is not None
    assert [passage.text for passage in trajectory.judgment.evidence] == ["one <b>", "two </think>"]
    environment = [t for t, m in zip(trajectory.token_ids, trajectory.loss_mask, strict=True) if not m]
    assert TOKENIZER.decode(environment) == first.observation + second.observation


def test_a_search_past_the_budget_is_answered_with_a_notice() -> None:
    trajectory = played(*["<search>q</search>"] * 4, ANSWER)
    assert [turn.notice for turn in trajectory.turns[:4]] == [None, None, *["no searches left: answer now"] * 2]
    assert (trajectory.searches, trajectory.ended) == (2, "answer")


def test_an_empty_query_costs_a_search_and_is_told_so() -> None:
    trajectory = played("<search> \n</search>", "<search>q</search>", "<search>r</search>", ANSWER)
    assert [turn.notice for turn in trajectory.turns] == [
        "empty query; 1 searches left",
        None,
        "no searches left: answer now",
        None,
    ]
    assert trajectory.searches == 1


def test_a_judge_that_only_searches_comes_to_an_end() -> None:
    trajectory = played(*["<search>q</search>"] * 100)
    assert trajectory.ended in ("search_past_budget", "unclosed_search", "turn_budget")
    assert len(trajectory.token_ids) <= ROOMY.episode_tokens


@pytest.mark.parametrize("room", [NOTICE, NOTICE + 5, NOTICE + 30, NOTICE + 60])
def test_passages_are_left_out_whole_and_the_frame_is_always_closed(room: int) -> None:
    budget = ROOMY.model_copy(update={"observation_tokens": room})
    passages = evidence("a" * 20, "b" * 20, "c" * 20)
    [first, _] = played("<search>q</search>", ANSWER, budget=budget, passages=passages).turns
    assert first.observation is not None
    assert len(first.observation) <= room
    assert first.observation.startswith("<information>\n")
    assert first.observation.endswith(" searches left)</information>")
    assert len(first.passages) + first.passages_dropped == 3
    assert [p.text for p in first.passages] == [p.text for p in passages[: len(first.passages)]]
    for passage in passages:
        assert (passage.text in first.observation) == (passage in first.passages)
    if not first.passages:
        assert "no passage fits here" in first.observation


def test_nothing_found_is_said() -> None:
    [first, _] = played("<search>q</search>", ANSWER).turns
    assert first.observation == "<information>\n(nothing found; 1 searches left)</information>"


def test_a_budget_that_cannot_hold_a_notice_is_refused_at_once() -> None:
    small = ROOMY.model_copy(update={"observation_tokens": NOTICE - 1})
    with pytest.raises(BudgetTooSmall, match=f"observation_tokens {NOTICE - 1} cannot hold .* {NOTICE} tokens"):
        start(small)
    assert isinstance(start(small.model_copy(update={"max_searches": 0})).state, Sample)


def test_an_episode_may_fill_every_turn_and_every_observation_and_still_answer() -> None:
    budget = Budget(max_searches=3, top_k=1, response_tokens=80, observation_tokens=NOTICE + 20)
    episode = start(budget)
    for number in range(3):
        query = "<search>q</search>"
        write(episode, "<think>" + "x" * (80 - len(query) - 15) + "</think>" + query)
        assert episode.state == Search("q")
        frame = len(f"<information>\n[1] \n({2 - number} searches left)</information>")
        episode.observe(evidence("p" * (budget.observation_tokens - frame)))
        assert len(episode.turns[-1].observation or "") == budget.observation_tokens
        assert episode.turns[-1].passages
        assert episode.state == Sample(80)
    write(episode, "x" * (80 - len(ANSWER)) + ANSWER)
    trajectory = episode.trajectory()
    assert trajectory.ended == "answer"
    assert len(trajectory.token_ids) == budget.episode_tokens == 4 * 80 + 3 * (NOTICE + 20)


def test_an_action_may_take_the_last_token_of_its_turn() -> None:
    budget = ROOMY.model_copy(update={"response_tokens": len(ANSWER)})
    assert played(ANSWER, budget=budget).ended == "answer"
    assert played("x" + ANSWER, budget=budget).ended == "unclosed_answer"
    assert played("<search>q</search>", ANSWER, budget=budget).ended == "answer"


def test_nothing_behind_the_stop_is_taken() -> None:
    episode = start()
    assert write(episode, "<search>q</search> and more") == len("<search>q</search>")
    episode.observe([])
    assert write(episode, ANSWER + "\0\0") == len(ANSWER)
    episode = start()
    assert write(episode, "x\0y") == 2


def test_another_parser_may_be_put_in() -> None:
    episode = Episode([], ROOMY, TOKENIZER, parse=parse_tolerant)
    write(episode, "<answer>```" + GOLD.replace("A>B", "b < a") + "```</answer>")
    assert episode.trajectory().ended == "answer"


def test_failures_from_outside_are_named_and_hold_what_was_played() -> None:
    episode = start()
    write(episode, "<think>x</think><search>q</search>")
    episode.abort("search_timeout")
    trajectory = episode.trajectory()
    assert trajectory.ended == "infrastructure_search_timeout"
    assert trajectory.judgment is None
    assert [turn.text for turn in trajectory.turns] == ["<think>x</think><search>q</search>"]
    with pytest.raises(RuntimeError, match="the episode is over"):
        episode.abort("again")
    assert episode.trajectory() == trajectory


def test_a_driver_that_asks_out_of_turn_is_told() -> None:
    episode = start()
    with pytest.raises(RuntimeError, match="nothing was searched"):
        episode.observe([])
    with pytest.raises(ValueError, match="1 ids with 0"):
        episode.feed([5], [])
    assert episode.feed([], []) == 0
    write(episode, "<search>q</search>")
    with pytest.raises(RuntimeError, match="nothing is to be sampled"):
        episode.feed([5], [0.0])
    episode.observe([])
    write(episode, ANSWER)
    for step in (lambda: episode.feed([5], [0.0]), lambda: episode.observe([])):
        with pytest.raises(RuntimeError):
            step()


WORDS = ["<think>", "</think>", "<search>", "</search>", "<answer>", "</answer>", GOLD, "q", " ", "\0", "é", "x" * 30]
BUDGETS = st.builds(
    Budget,
    max_searches=st.integers(0, 3),
    top_k=st.just(1),
    response_tokens=st.integers(1, 90),
    observation_tokens=st.integers(NOTICE, NOTICE + 60),
)


@given(
    BUDGETS,
    st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=60).map("".join),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.lists(st.text(max_size=40), max_size=3),
)
def test_whatever_is_sampled_the_budgets_hold_and_the_episode_ends(
    budget: Budget, text: str, chunks: list[int], found: list[str]
) -> None:
    """A policy that writes `text` over and over, in pieces of any size, searching a case that gives any passages."""
    episode = start(budget)
    tape = TOKENIZER.encode_trusted(text) or [ord("x")]
    at = steps = 0
    while not isinstance(episode.state, Finished):
        steps += 1
        assert steps <= 3 * budget.episode_tokens + 10, "it does not end"
        if isinstance(episode.state, Search):
            shown = episode.observe(evidence(*found))
            assert len(shown) <= budget.observation_tokens
            continue
        assert 1 <= episode.state.max_tokens <= budget.response_tokens
        ids = [tape[(at + n) % len(tape)] for n in range(chunks[steps % len(chunks)])]
        used = episode.feed(ids, [-1.0] * len(ids))
        assert used >= 1
        at += used
    trajectory = episode.trajectory()
    assert len(trajectory.token_ids) <= budget.episode_tokens
    assert len(trajectory.token_ids) == len(trajectory.loss_mask) == len(trajectory.logprobs)
    assert sum(trajectory.loss_mask) == at
    assert trajectory.searches <= budget.max_searches
    runs = "".join(map(str, trajectory.loss_mask)).split("0")
    assert max(map(len, runs)) <= budget.response_tokens
    for turn in trajectory.turns:
        assert len((turn.observation or "").encode()) <= max(budget.observation_tokens, NOTICE)
    assert (trajectory.judgment is None) == (trajectory.ended != "answer")
    assert not trajectory.ended.startswith(("infrastructure", "unfinished"))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("A<B\nviolated_principles: [2]", "answer"),
        ("A<B\n", "rejected_not_two_lines"),
        ("<think>A<B\nviolated_principles: [2]", "unclosed_think"),
    ],
)
def test_a_bare_answer_is_what_stands_before_the_end(written: str, reason: str) -> None:
    """Where the prompt asks for two lines without tags (Table 6), EOS completes the answer; the budget does not."""
    episode = Episode([1, 2], ROOMY, TOKENIZER, eos_ids=[EOS], parse_bare=parse_table6)
    ids = [*TOKENIZER.encode_trusted(written), EOS]
    assert episode.feed(ids, [0.0] * len(ids)) == len(ids)
    assert isinstance(episode.state, Finished)
    assert episode.state.reason == reason
    played = episode.trajectory()
    assert played.token_ids == tuple(ids)
    assert played.loss_mask == (1,) * len(ids)
    short = Episode([1, 2], ROOMY.model_copy(update={"response_tokens": 26}), TOKENIZER, parse_bare=parse_table6)
    write(short, "A<B\nviolated_principles: [2]")
    assert isinstance(short.state, Finished)
    assert short.state.reason == "turn_budget"
