import time
from pathlib import Path

import pytest
import real_tokenizers
from factories import ANY_EVENT, mini_pairs
from scripted_backend import ScriptedBackend

from judge_r1.core.errors import JudgeError
from judge_r1.core.progress import StageTimer
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.rollout import (
    PromptTooLong,
    RolloutRunner,
    check_prompts,
    new_episode,
)
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import Sampling
from retrieval.errors import RetrievalError

DATA = mini_pairs(12)
CONFIG = EpisodeConfig(
    context="none",
    prompt="compact",
    retriever="bm25",
    prompt_tokens=2000,
    budget=Budget(max_searches=2, top_k=2, passage_words=3, response_tokens=80, observation_tokens=200),
)


@pytest.fixture(scope="module")
def tokenizer() -> SafeTokenizer:
    return real_tokenizers.load("awkward")


def gold(index: int) -> str:
    pair = DATA.pairs[index]
    return f'<answer>{{"comparison": "{pair.gold.comparison}", "violated_principles": {list(pair.violated)}}}</answer>'


def test_rewarded_trajectories_are_in_the_order_of_the_pairs(tokenizer: SafeTokenizer) -> None:
    large = CONFIG.model_copy(update={"budget": CONFIG.budget.model_copy(update={"response_tokens": 200})})
    pairs = [DATA.pairs[i] for i in (3, 0, 3)]
    lines = [[f"<search>{ANY_EVENT}</search>", gold(3)], ["nothing\0"], [gold(0)]]
    eos = tokenizer.encode_trusted("\0")
    trajectories = RolloutRunner(DATA, large, tokenizer, ScriptedBackend(tokenizer, lines), eos).run(pairs, Sampling())
    assert [trajectory.ended for trajectory in trajectories] == ["answer", "no_answer", "answer"]
    assert [trajectory.reward and trajectory.reward["valid"] for trajectory in trajectories] == [1.0, 0.0, 1.0]
    assert trajectories[0].reward is not None
    assert (trajectories[0].reward["r"], trajectories[0].reward["searches"]) == (1.0, 1.0)
    assert len(trajectories[0].turns[0].passages) == 2
    assert trajectories[0].prompt_ids == trajectories[2].prompt_ids


def test_a_prompt_over_prompt_tokens_raises(tokenizer: SafeTokenizer) -> None:
    pair = DATA.pairs[0]
    length = len(new_episode(pair, DATA, CONFIG, tokenizer, ()).prompt_ids)
    exact = CONFIG.model_copy(update={"prompt_tokens": length})
    assert len(new_episode(pair, DATA, exact, tokenizer, ()).prompt_ids) == length
    with pytest.raises(
        PromptTooLong, match=f"pair {pair.pair_id}: its prompt has {length} tokens, over .* {length - 1}"
    ):
        new_episode(pair, DATA, CONFIG.model_copy(update={"prompt_tokens": length - 1}), tokenizer, ())
    assert issubclass(PromptTooLong, JudgeError)


def test_a_prompt_that_leaves_no_space_for_its_episode_raises(tokenizer: SafeTokenizer) -> None:
    longest = max(len(new_episode(pair, DATA, CONFIG, tokenizer, ()).prompt_ids) for pair in DATA.pairs)
    needed = longest + CONFIG.effective_budget.episode_tokens
    check_prompts(DATA, CONFIG, tokenizer, needed)
    check_prompts(DATA, CONFIG, tokenizer, None)
    with pytest.raises(PromptTooLong, match=f"exceed the model's context length of {needed - 1}"):
        check_prompts(DATA, CONFIG, tokenizer, needed - 1)


def test_prompts_are_encoded_once_and_their_lengths_are_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path))
    rendered: list[object] = []

    def new_tokenizer() -> SafeTokenizer:
        tokenizer = SafeTokenizer(real_tokenizers.load("awkward").hf)
        render = tokenizer.rendered
        monkeypatch.setattr(
            tokenizer, "rendered", lambda prompt, **options: rendered.append(prompt) or render(prompt, **options)
        )
        return tokenizer

    tokenizer = new_tokenizer()
    check_prompts(DATA, CONFIG, tokenizer, None)
    assert len(rendered) == len(DATA.pairs)
    first = [new_episode(DATA.pairs[0], DATA, CONFIG, tokenizer, ()).prompt_ids for _ in range(4)]
    assert len(rendered) == len(DATA.pairs)
    assert len(set(first)) == 1
    check_prompts(DATA, CONFIG, new_tokenizer(), None)
    assert len(rendered) == len(DATA.pairs), "a second start reads the cached lengths"
    check_prompts(DATA, CONFIG.model_copy(update={"context": "full"}), new_tokenizer(), None)
    assert len(rendered) == 2 * len(DATA.pairs)
    with pytest.raises(PromptTooLong, match="over prompt_tokens 5"):
        check_prompts(DATA, CONFIG.model_copy(update={"prompt_tokens": 5}), new_tokenizer(), None)
    assert len(rendered) == 2 * len(DATA.pairs)


def test_each_episode_searches_its_own_case() -> None:
    searcher = CaseSearcher(DATA.texts, CONFIG)
    ids = list(DATA.cases)[:4]
    search = searcher.of_cases(ids)
    found = search([(2, ANY_EVENT), (0, ANY_EVENT), (2, ANY_EVENT), (3, f"{ids[1]} {ANY_EVENT}"), (1, ids[1])])
    assert [{e.case_id for e in passages} for passages in found] == [{ids[2]}, {ids[0]}, {ids[2]}, {ids[3]}, set()]
    assert found[0] == found[2] == searcher.of_case(ids[2])(ANY_EVENT)
    for passages in found:
        for e in passages:
            assert e.text == DATA.cases[e.case_id].context[e.start : e.end]


def test_an_unknown_case_raises() -> None:
    with pytest.raises(RetrievalError, match="is unknown to this retriever"):
        CaseSearcher(DATA.texts, CONFIG).of_case("no-such-case")("paid")


def test_without_search_no_embedder_is_loaded(tokenizer: SafeTokenizer) -> None:
    """The embedder does not exist, so loading it would raise."""
    plain = CONFIG.model_copy(update={"search": False, "retriever": "bundled:nothing-like-it"})
    backend = ScriptedBackend(tokenizer, [["<search>q</search>"]])
    [trajectory] = RolloutRunner(DATA, plain, tokenizer, backend, ()).run(DATA.pairs[:1], Sampling())
    assert trajectory.searches == 0
    assert "search" not in tokenizer.decode(trajectory.prompt_ids)
    with pytest.raises(RetrievalError):
        RolloutRunner(DATA, CONFIG.model_copy(update={"retriever": "bundled:nothing-like-it"}), tokenizer, backend, ())


def test_nested_stages_are_exclusive() -> None:
    timer, started = StageTimer(), time.perf_counter()
    with timer.stage("generation"):
        for _ in range(2):
            time.sleep(0.01)
            with timer.stage("search"):
                time.sleep(0.02)
    total = time.perf_counter() - started
    seconds = timer.pop()
    assert seconds["search"] >= 0.04
    assert seconds["generation"] >= 0.02
    assert sum(seconds.values()) == pytest.approx(total, abs=1e-3)
    assert timer.pop() == {}


def test_a_stage_that_raises_is_counted() -> None:
    timer = StageTimer()
    with pytest.raises(KeyError), timer.stage("search"):
        raise KeyError
    timer.add("score", 1.5)
    timer.add("score", 0.5)
    assert timer.pop().keys() == {"search", "score"}
