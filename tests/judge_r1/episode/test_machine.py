"""The state machine of an episode: actions, ends and budgets. tests/promises tests the ids."""

import pytest
from factories import ByteTokenizer, evidence, make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.pointwise import rating_question
from judge_r1.core.items import Item
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Evidence, InvalidVerdict
from judge_r1.episode.chat_driver import SingleTurnEpisode
from judge_r1.episode.config import Budget, BudgetTooSmall
from judge_r1.episode.machine import Episode, Finished, Sample, Search, no_action_notice
from judge_r1.episode.parsing import parse_table6, parse_tolerant
from judge_r1.episode.reward import with_reward
from judge_r1.evaluation.label_results import trajectory_labels
from judge_r1.judges.request import JudgeRequest

TOKENIZER = ByteTokenizer()
GOLD = '{"comparison": "A>B", "violated_principles": [3]}'
ANSWER = f"<answer>{GOLD}</answer>"
LARGE = Budget(max_searches=2, response_tokens=200, observation_tokens=200)
NOTICE = len("<information>\n(no passage fits here; 9 searches left)</information>")
EOS = 0


def test_a_thought_opened_by_the_prompt() -> None:
    """Some chat templates end in `<think>`. Tags before `</think>` are part of that thought."""
    prompt = TOKENIZER.encode_trusted("assistant\n<think>\n")
    episode = Episode(prompt, LARGE, TOKENIZER, eos_ids=[EOS])
    written = TOKENIZER.encode_trusted(f"or <search>x</search>?</think><search>y</search>{ANSWER}")
    used = episode.feed(written, [0.0] * len(written))
    assert episode.state == Search("y")
    episode.observe([])
    episode.feed(written[used:], [0.0] * (len(written) - used))
    assert isinstance(episode.state, Finished)
    assert episode.state.reason == "answer"


def start(budget: Budget = LARGE) -> Episode:
    return Episode([1, 2], budget, TOKENIZER, eos_ids=[EOS])


def write(episode: Episode, text: str) -> int:
    ids = TOKENIZER.encode_trusted(text)
    return episode.feed(ids, [-0.1] * len(ids))


def run_turns(*turns: str, budget: Budget = LARGE, passages: list[Evidence] | None = None) -> Trajectory:
    """Write the turns in order. Every search finds `passages`."""
    episode = start(budget)
    for text in turns:
        if isinstance(episode.state, Finished):
            break
        write(episode, text)
        if isinstance(episode.state, Search):
            episode.observe(passages or [])
    return episode.trajectory()


def test_an_answer_that_is_only_eos_is_an_empty_text() -> None:
    """Parsers and reports read the text of the last turn."""
    plain = SingleTurnEpisode([1, 2], LARGE, TOKENIZER, eos_ids=[EOS])
    bare = Episode([1, 2], LARGE, TOKENIZER, eos_ids=[EOS], parse_bare=parse_tolerant)
    for episode, ended in ((plain, "answer"), (bare, "rejected_no_json")):
        episode.feed([EOS], [0.0])
        trajectory = episode.trajectory()
        assert (trajectory.ended, [turn.text for turn in trajectory.turns]) == (ended, [""])
    pair = make_pair(make_case())
    assert not trajectory_labels("j", pair, with_reward(bare.trajectory(), pair)).valid_tolerant
    item = Item(item_id="i", cluster_id="c", instruction="", candidates=("x",), gold=0)
    request = JudgeRequest(item, (0,), 0, rating_question("", "x"))
    assert isinstance(request.read(plain.trajectory()), InvalidVerdict)


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
def test_each_end_has_a_name(turns: list[str], ended: str) -> None:
    trajectory = run_turns(*turns)
    assert trajectory.ended == ended
    assert (trajectory.judgment is not None) == (ended == "answer")


def test_tags_in_a_thought_are_text() -> None:
    episode = start()
    write(episode, "<think>I could <search>x</search> or " + ANSWER)
    assert episode.state == Sample(200 - len(episode.token_ids))
    assert not episode.turns
    write(episode, "</think><search>y</search>")
    assert episode.state == Search("y")


def test_a_search_past_the_budget_gets_a_notice() -> None:
    trajectory = run_turns(*["<search>q</search>"] * 4, ANSWER)
    assert [turn.notice for turn in trajectory.turns[:4]] == [None, None, *["no searches left: answer now"] * 2]
    assert (trajectory.searches, trajectory.ended) == (2, "answer")


def test_an_empty_query_uses_a_search_and_gets_a_notice() -> None:
    trajectory = run_turns("<search> \n</search>", "<search>q</search>", "<search>r</search>", ANSWER)
    notices = ["empty query; 1 searches left", None, "no searches left: answer now", None]
    assert [turn.notice for turn in trajectory.turns] == notices
    assert trajectory.searches == 1


def test_a_query_of_too_many_words_uses_a_search_and_gets_a_notice() -> None:
    limited = LARGE.model_copy(update={"query_words": 2})
    trajectory = run_turns("<search>one two three</search>", "<search> one  two </search>", ANSWER, budget=limited)
    notice = "the query has more than 2 words; 1 searches left"
    assert [turn.notice for turn in trajectory.turns] == [notice, None, None]
    assert [turn.query for turn in trajectory.turns] == ["one two three", "one  two", None]
    assert (trajectory.searches, trajectory.ended) == (1, "answer")
    joined = run_turns("<search>one,two-three</search>", ANSWER, budget=limited)
    assert joined.turns[0].notice == notice


def test_an_episode_of_searches_alone_ends() -> None:
    trajectory = run_turns(*["<search>q</search>"] * 100)
    assert trajectory.ended in ("search_past_budget", "unclosed_search", "turn_budget")
    assert len(trajectory.token_ids) <= LARGE.episode_tokens


@pytest.mark.parametrize("limit", [NOTICE, NOTICE + 5, NOTICE + 30, NOTICE + 60])
def test_passages_that_do_not_fit_are_dropped_whole(limit: int) -> None:
    budget = LARGE.model_copy(update={"observation_tokens": limit})
    passages = evidence("a" * 20, "b" * 20, "c" * 20)
    [first, _] = run_turns("<search>q</search>", ANSWER, budget=budget, passages=passages).turns
    assert first.observation is not None
    assert len(first.observation) <= limit
    assert first.observation.startswith("<information>\n")
    assert first.observation.endswith(" searches left)</information>")
    assert len(first.passages) + first.passages_dropped == 3
    assert [p.text for p in first.passages] == [p.text for p in passages[: len(first.passages)]]
    for passage in passages:
        assert (passage.text in first.observation) == (passage in first.passages)
    if not first.passages:
        assert "no passage fits here" in first.observation


def test_a_search_without_results_gets_a_notice() -> None:
    [first, _] = run_turns("<search>q</search>", ANSWER).turns
    assert first.observation == "<information>\n(nothing found; 1 searches left)</information>"


def test_a_budget_that_cannot_hold_a_notice_is_rejected() -> None:
    small = LARGE.model_copy(update={"observation_tokens": NOTICE - 1})
    with pytest.raises(BudgetTooSmall, match=f"observation_tokens {NOTICE - 1} cannot hold .* {NOTICE} tokens"):
        start(small)
    assert isinstance(start(small.model_copy(update={"max_searches": 0})).state, Sample)


def test_custom_parser() -> None:
    episode = Episode([], LARGE, TOKENIZER, parse=parse_tolerant)
    write(episode, "<answer>```" + GOLD.replace("A>B", "b < a") + "```</answer>")
    assert episode.trajectory().ended == "answer"


def test_infrastructure_failures_keep_the_turns_so_far() -> None:
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


def test_calls_in_the_wrong_state_raise() -> None:
    episode = start()
    with pytest.raises(RuntimeError, match="does not wait for passages"):
        episode.observe([])
    with pytest.raises(ValueError, match="1 ids with 0"):
        episode.feed([5], [])
    assert episode.feed([], []) == 0
    write(episode, "<search>q</search>")
    with pytest.raises(RuntimeError, match="does not wait for tokens"):
        episode.feed([5], [0.0])
    episode.observe([])
    write(episode, ANSWER)
    for step in (lambda: episode.feed([5], [0.0]), lambda: episode.observe([])):
        with pytest.raises(RuntimeError):
            step()


WORDS = ["<think>", "</think>", "<search>", "</search>", "<answer>", "</answer>", GOLD, "q", " ", "\0", "é", "x" * 30]
LONG_NOTICE = len(f"<information>\n({no_action_notice(9)})</information>")
BUDGETS = st.one_of(
    st.builds(
        Budget, max_searches=st.integers(0, 3), top_k=st.just(1), response_tokens=st.integers(1, 90),
        observation_tokens=st.integers(shortest, shortest + 60), no_action=st.just(no_action),
    )
    for no_action, shortest in (("end", NOTICE), ("notice", LONG_NOTICE))
)  # fmt: skip


@given(
    BUDGETS,
    st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=60).map("".join),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.lists(st.text(max_size=40), max_size=3),
)
def test_any_text_keeps_the_budgets_and_ends(budget: Budget, text: str, chunks: list[int], found: list[str]) -> None:
    """A policy repeats `text` in chunks of any size; searches find any passages."""
    episode = start(budget)
    written = TOKENIZER.encode_trusted(text) or [ord("x")]
    position = steps = 0
    while not isinstance(episode.state, Finished):
        steps += 1
        assert steps <= 3 * budget.episode_tokens + 10, "the episode does not end"
        if isinstance(episode.state, Search):
            shown = episode.observe(evidence(*found))
            assert len(shown) <= budget.observation_tokens
            continue
        assert 1 <= episode.state.max_tokens <= budget.response_tokens
        ids = [written[(position + n) % len(written)] for n in range(chunks[steps % len(chunks)])]
        used = episode.feed(ids, [-1.0] * len(ids))
        assert used >= 1
        position += used
    trajectory = episode.trajectory()
    assert len(trajectory.token_ids) <= budget.episode_tokens
    assert len(trajectory.token_ids) == len(trajectory.loss_mask) == len(trajectory.logprobs)
    assert sum(trajectory.loss_mask) == position
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
def test_an_answer_without_tags_ends_at_eos(written: str, reason: str) -> None:
    """Without tags (Table 6), EOS completes the answer; the end of the budget does not."""
    episode = Episode([1, 2], LARGE, TOKENIZER, eos_ids=[EOS], parse_bare=parse_table6)
    ids = [*TOKENIZER.encode_trusted(written), EOS]
    assert episode.feed(ids, [0.0] * len(ids)) == len(ids)
    assert isinstance(episode.state, Finished)
    assert episode.state.reason == reason
    trajectory = episode.trajectory()
    assert trajectory.token_ids == tuple(ids)
    assert trajectory.loss_mask == (1,) * len(ids)
    short = Episode([1, 2], LARGE.model_copy(update={"response_tokens": 26}), TOKENIZER, parse_bare=parse_table6)
    write(short, "A<B\nviolated_principles: [2]")
    assert isinstance(short.state, Finished)
    assert short.state.reason == "turn_budget"


NOTICED = LARGE.model_copy(update={"no_action": "notice"})


@pytest.mark.parametrize("unfinished", ["A is better.", "<think>A is", "<search>platelets"])
def test_a_turn_without_an_action_may_go_on_after_a_notice(unfinished: str) -> None:
    """The notice costs a search and has mask 0; the sampled EOS before it stays, with mask 1."""
    episode = start(NOTICED)
    ids = [*TOKENIZER.encode_trusted(unfinished), EOS]
    assert episode.feed(ids, [-0.1] * len(ids)) == len(ids)
    assert isinstance(episode.state, Sample)
    turn = episode.turns[0]
    assert (turn.text.removesuffix("\0"), turn.query) == (unfinished, None)
    assert (turn.notice or "").endswith("</answer>; 1 searches left")
    assert episode.loss_mask == [1] * len(ids) + [0] * (len(episode.token_ids) - len(ids))
    write(episode, ANSWER)
    trajectory = episode.trajectory()
    assert (trajectory.ended, trajectory.searches, len(trajectory.turns)) == ("answer", 0, 2)


def test_without_searches_a_turn_without_an_action_ends_the_episode() -> None:
    episode = start(NOTICED.model_copy(update={"max_searches": 0}))
    episode.feed([EOS], [0.0])
    assert episode.state == Finished("no_answer")


def test_a_notice_must_fit_into_an_observation() -> None:
    with pytest.raises(BudgetTooSmall, match="raise it"):
        start(NOTICED.model_copy(update={"observation_tokens": NOTICE}))


def test_a_server_that_stops_at_its_limit_ends_the_turn_alike() -> None:
    episode = start(NOTICED)
    write(episode, "A is")
    episode.truncate()
    assert isinstance(episode.state, Sample)
    assert episode.turns[0].notice
    ended = start()
    ended.truncate()
    with pytest.raises(RuntimeError, match="the episode is over"):
        ended.truncate()
