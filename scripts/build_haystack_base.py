"""Rebuild the base model of the `haystack` experiment, which ships in judge_r1/models/haystack.

The model is a Qwen3-shaped causal LM with 0.8 M parameters and a byte-level BPE of the `haystack` vocabulary. It is
trained on copying and comparing only: given two lists and a record, the text quotes each line of both lists, says
whether they are the same and, if not, whether their events are alike, copies what the record says about the people of
the line, and says which statement it supports. The texts contain no search, no judge's prompt, no principle and no
verdict (`check_texts`), and their lists have a reserved seed (`data_builders.worlds.haystack.source`). A stopped run
resumes.

    python -m scripts.build_haystack_base --out judge_r1/models/haystack
"""

import argparse
import json
import re
import shutil
import time
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from random import Random

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from data_builders.haystack_splits import CASES, contents_of
from data_builders.sources.corpus_io import numbered
from data_builders.worlds.haystack.rationales import alike, finding, quote
from data_builders.worlds.haystack.source import EVENTS, FACTS, SEEDS, WORDS, check_disjoint, facts, lines, triples
from data_builders.worlds.mini.source import Fact
from judge_r1.core.record_base import content_hash
from judge_r1.episode.tags import NAMES as TAG_NAMES

TEMPLATE = (
    "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% endif %}"
)
EXTRA_WORDS = (
    " judge two medical legal academic reasonings A and B by 1 logic 2 facts 3 fairness 4 grounds 5 help 6 harm search"
    ' case: decision: A: B: {"comparison": "A>B", "violated_principles": [1, 2, 3, 4, 5, 6]} {"comparison": "A<B",'
    ' "violated_principles": [2]} 0 1 2 3 4 5 6 searches left nothing found; no passage fits here; empty query;'
    " answer now A 1 B 2 A 3 B 4 alike unlike is fair ok unfair vague harmful illogical principle sound advice"
    " unchecked the rest"
)
LEVELS = ((2, 1, 80), (4, 2, 80), (6, 3, 340))
"""Most lines of a list, passages of the record, and steps, from easy to hard. At the last level the learning rate
decays."""
DRAWS = 6
"""Draws of the splits that share no triple of claims with the base's texts."""
SECOND_STEPS = 160
"""Steps of the second part, on the last level: texts also repeat after a record whether the events are alike."""
WEIGHTS = {
    "": 0.0, "list": 0.1, "number": 0.3, "copy": 1.0, "same": 3.0, "differ": 3.0,
    "event": 1.0, "alike": 3.0, "read": 1.0, "support": 3.0,
}  # fmt: skip
"""Loss weight of each kind of segment. List B repeats much of list A, so it teaches copying too."""
Text = list[tuple[str, str]]
"""A text as segments, each with the task that it answers, or "" for text that is given."""


def document(level: int, rng: Random, *, repeat: bool = False) -> Text:
    """Two lists, a record, and text that goes through the lines: quotes, a comparison, and what the record says.
    `repeat`: after the record, the text repeats whether the events are alike."""
    most, passages, _ = LEVELS[level]
    domain = rng.choice(sorted(EVENTS))
    every = facts(domain, 60, rng)
    first = every[: rng.randint(2, most)]
    second = [_changed(fact, domain, every[40:], rng) if rng.random() < 0.4 else fact for fact in first]
    listed = [numbered(_with_tails(lines(claimed, rng), rng)) for claimed in (first, second)]
    quotes = [[quote(line)[0] for line in part.split("\n")] for part in listed]
    pairs = list(zip(first, second, strict=True))
    known = [fact for pair in pairs for fact in dict.fromkeys(pair) if rng.random() < 0.85]
    record = _record(known, every[20:40], 4 * passages, rng)
    shown = "".join(
        f"\n[{i + 1}] " + " ".join(f"{fact}." for fact in record[4 * i : 4 * i + 4]) for i in range(passages)
    )
    place = rng.randrange(-1, len(first))
    text: Text = [(f"<|im_start|>user{shown if place < 0 else ''}\nA:\n", ""), (listed[0], "")]
    text += [("\nB:\n", ""), (listed[1], "list"), ("<|im_end|>\n<|im_start|>assistant\n", "")]
    for number, (a, b) in enumerate(pairs):
        text += _quoted(number, *quotes)
        text += [(" same" if a == b else " differs", "same" if a == b else "differ")]
        if a != b:
            text += [(f" {a.did} {b.did}", "event"), (f" {alike(a, b)}", "alike")]
        if number == place:
            text += [(f"{shown}\n", "")]
        if number >= place and (number == place or rng.random() < 0.5):
            text += [(" record", "list")]
            for fact, support in finding(a, b, record):
                text += [(f" {fact}", "read"), (f" {support}", "support")]
            if repeat and a != b:
                text += [(f" {alike(a, b)}", "alike")]
    return [*text, *_quoted(len(first), *quotes), ("<|im_end|>", "number")]


def _quoted(number: int, a: list[str], b: list[str]) -> Text:
    return [
        *((f" {number + 1}", "number"), (" A", "list"), (f" {a[number]}", "copy")),
        *((" B", "list"), (f" {b[number]}", "copy")),
    ]


def _changed(fact: Fact, domain: str, others: list[Fact], rng: Random) -> Fact:
    """The fact with another value, event or person."""
    kind = rng.choice(["value", "event", "person"])
    if kind == "person":
        return Fact(rng.choice(others).who, fact.did, rng.choice(EVENTS[domain][fact.did]))
    did = fact.did if kind == "value" else rng.choice([did for did in EVENTS[domain] if did != fact.did])
    return Fact(fact.who, did, rng.choice([value for value in EVENTS[domain][did] if value != fact.value]))


def _with_tails(listed: list[str], rng: Random) -> list[str]:
    """The lines with any of the tails that a reasoning can have."""
    tails = [*WORDS.inferences * 2, *WORDS.non_sequiturs.values(), *WORDS.prejudices.values()]
    advice = [*WORDS.vague.values(), *WORDS.harmful.values()]
    ends = (
        listed[-1]
        if rng.random() < 0.6
        else rng.choice(advice).format(who=rng.choice(WORDS.names), document=rng.choice(WORDS.documents)) + "."
    )
    return [*(f"{line.split(',')[0]}, {rng.choice(tails)}." for line in listed[:-1]), ends]


def _record(known: list[Fact], others: list[Fact], size: int, rng: Random) -> list[Fact]:
    """`size` facts about different people, the known ones among them as far as they fit."""
    unique = list({fact.who: fact for fact in rng.sample(known, len(known))}.values())[: size - 1]
    record = unique + others[: size - len(unique)]
    return rng.sample(record, len(record))


def documents(level: int, block: int, number: int, seed: int = 0, *, repeat: bool = False) -> list[Text]:
    """`number` texts; block 0 is held out."""
    rng = Random(content_hash("haystack-base", SEEDS["base"], seed if block else 0, level, block))
    return [document(level, rng, repeat=repeat) for _ in range(number)]


def plain(text: Text) -> str:
    return "".join(part for part, _ in text)


FORBIDDEN = ("<search", "<information", "<answer", "<think", "judge", "principle", "comparison", "violated", "worse")


def check_texts(texts: list[Text]) -> None:
    """Raises AssertionError if a text has anything of an episode."""
    for text in map(plain, texts):
        assert not (found := [word for word in FORBIDDEN if word in text]), f"a text of the base has {found}"


def check_base(seed: int, size: int) -> None:
    """Raises JudgeError if a list of a training text shares three claims with a reference of a split."""
    seen: set[str] = set()
    for level, (*_, steps) in enumerate(LEVELS):
        for block in range(1, 1 + -(-steps // 8)):
            for text in documents_of_block(level, block, size, seed):
                claims = re.findall(r"^\d+\. ([A-Z]\w+ \w+ \w+),", plain(text), re.MULTILINE)
                half = len(claims) // 2
                seen |= triples(claims[:half]) | triples(claims[half:])
    for source, (draw, (name, cases)) in product(FACTS, product(range(DRAWS), CASES.items())):
        found = contents_of(name, cases, draw, source)
        check_disjoint({"base": {"triples of claims": seen}, f"{name} of draw {draw} of {source}": found})
    print(f"{len(seen):,} triples of claims in the base's texts, none of them in a split", flush=True)


CHUNKS = (
    r"\n\[\d\]|\n?\d\.(?= )|, [a-z]+ [a-z]+\.|\n\(\d searches left\)|\{[^\]]*\[|\]\}"  # may become one token
    r"| ?[A-Za-z]+| ?\d+|\n"
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Builds a byte-level BPE (lossless) with one token per vocabulary word and the tags as plain added tokens.

    Its words include those of the prompt and the answer, which the base is not trained on.
    """
    bpe = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(CHUNKS), "isolated")
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    bpe.decoder = decoders.ByteLevel()
    values = {value for events in EVENTS.values() for values in events.values() for value in values}
    words = sorted({*WORDS.names, *values, *(did for events in EVENTS.values() for did in events)})
    answers = (f'{{"comparison": "{sign}", "violated_principles": []}}' for sign in ("A>B", "A<B"))
    left = (f"\n({count} searches left)" for count in range(2))
    texts = [EXTRA_WORDS + " record worse skip check" + " ".join(["", *words]), *answers, *left] * 500
    texts += [plain(text) for text in documents(len(LEVELS) - 1, 1, 2000)]
    for control in ("<|im_start|>", "<|im_end|>"):
        texts = [text.replace(control, " ") for text in texts]
    return train_tokenizer(bpe, texts, 2400)


def train_tokenizer(bpe: Tokenizer, texts: list[str], size: int) -> PreTrainedTokenizerFast:
    """Trains `size` tokens, and adds the tags as plain tokens and the chat template."""
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=20,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tags = [f"<{slash}{name}>" for name in TAG_NAMES for slash in ("", "/")]
    fast.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in tags])
    fast.chat_template = TEMPLATE
    return fast


WIDTH, HEADS, LAYERS = 128, 4, 4


def build_model(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """The untrained model. Its first two layers start as an induction head (Olsson et al. 2022), which copies what
    followed an earlier occurrence of a token, because such a head needs hours to form on two cores."""
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        head_dim=WIDTH // HEADS,
        attention_bias=True,
        max_position_embeddings=2048,
        rope_theta=10000.0,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    init = torch.nn.init
    init.normal_(model.model.embed_tokens.weight, std=0.1)
    for layer in model.model.layers:
        init.constant_(layer.self_attn.q_norm.weight, 1.6)  # normalised queries must select one token in 200
        init.constant_(layer.self_attn.k_norm.weight, 1.6)
        for linear in (layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj, layer.self_attn.o_proj):
            init.zeros_(linear.bias)
    rotation, *bases = (init.orthogonal_(torch.empty(WIDTH, WIDTH)) for _ in range(4))
    previous, induction = model.model.layers[0].self_attn, model.model.layers[1].self_attn
    half, fast = WIDTH // HEADS // 2, 5  # the fast frequencies of the rotary embedding tell neighbours apart
    angles = 10000.0 ** (-torch.arange(half) / half)[:fast]
    query, key = torch.zeros(HEADS, 2 * half), torch.zeros(HEADS, 2 * half)
    query[:, :fast] = 2.0
    key[:, :fast], key[:, half : half + fast] = 2 * angles.cos(), 2 * angles.sin()
    with torch.no_grad():
        previous.q_proj.weight.mul_(0.1)
        previous.k_proj.weight.mul_(0.1)
        previous.q_proj.bias.copy_(query.flatten())
        previous.k_proj.bias.copy_(key.flatten())
        previous.v_proj.weight.copy_(bases[0])
        previous.o_proj.weight.copy_(0.15 * rotation @ bases[0].T)
        induction.q_proj.weight.copy_(bases[1])
        induction.k_proj.weight.copy_(bases[1] @ rotation.T)
        model.model.layers[2].self_attn.k_proj.weight.copy_(model.model.layers[2].self_attn.q_proj.weight)
        induction.v_proj.weight.copy_(bases[2])
        induction.o_proj.weight.copy_(0.3 * bases[2].T)
    init.constant_(induction.q_norm.weight, 2.2)
    init.constant_(induction.k_norm.weight, 2.2)
    return model


class Encoder:
    """Texts as right-padded ids and task numbers (0 for given text), both `[texts, tokens]`."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.tokenizer = tokenizer
        self.names = list(WEIGHTS)

    def __call__(self, texts: list[Text]) -> tuple[torch.Tensor, torch.Tensor]:
        rows = []
        for text in texts:
            parts = self.tokenizer([part for part, _ in text], add_special_tokens=False)["input_ids"]
            tasks = [self.names.index(task) for _, task in text]
            rows.append(torch.tensor([(token, task) for ids, task in zip(parts, tasks, strict=True) for token in ids]))
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
        ids = torch.where(padded[..., 0] < 0, self.tokenizer.pad_token_id, padded[..., 0])
        return ids, padded[..., 1]


def documents_of_block(level: int, block: int, size: int, seed: int, *, repeat: bool = False) -> list[Text]:
    """The texts of eight batches. One in four has an easier level."""
    easier = documents(max(0, level - 1), block, 2 * size, seed, repeat=repeat)
    return documents(level, block, 6 * size, seed, repeat=repeat) + easier


def batches(
    encode: Encoder, level: int, seed: int, size: int, *, repeat: bool = False
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of new texts of similar length."""
    for block in count(1):
        texts = documents_of_block(level, block, size, seed, repeat=repeat)
        check_texts(texts)
        texts.sort(key=lambda text: len(plain(text)))
        starts = list(range(0, len(texts), size))
        Random(block).shuffle(starts)
        for start in starts:
            yield encode(texts[start : start + size])


@torch.no_grad()
def accuracies(model: Qwen3ForCausalLM, encode: Encoder, texts: list[Text]) -> dict[str, float]:
    """Teacher-forced accuracy by task, on texts that were not trained on."""
    ids, tasks = encode(texts)
    right = model(ids[:, :-1]).logits.argmax(-1) == ids[:, 1:]
    return {
        name: float(right[tasks[:, 1:] == number].float().mean())
        for number, name in enumerate(encode.names)
        if number and bool((tasks[:, 1:] == number).any())
    }


def descend(model: Qwen3ForCausalLM, optimizer: torch.optim.Optimizer, loss: torch.Tensor, rate: float) -> float:
    """Takes one step and returns the loss."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def finish(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """Writes the base and removes the unfinished one."""
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    shutil.rmtree(out / "unfinished")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-3)
    args = parser.parse_args()
    check_base(args.seed, args.batch)
    torch.manual_seed(args.seed)
    unfinished = args.out / "unfinished"
    resuming = unfinished.exists()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(unfinished) if resuming else build_tokenizer()
    model = Qwen3ForCausalLM.from_pretrained(unfinished) if resuming else build_model(tokenizer)
    done = json.loads((unfinished / "step.json").read_text()) if resuming else 0
    ends = [sum(steps for *_, steps in LEVELS[: level + 1]) for level in range(len(LEVELS))]
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens", flush=True)
    encode, weight_of = Encoder(tokenizer), torch.tensor([*WEIGHTS.values(), 0.0])
    ends.append(ends[-1] + SECOND_STEPS)
    started, total, tokens, part, start = time.monotonic(), 0.0, 0, -1, done
    for step in range(done + 1, ends[-1] + 1):
        if part < 0 or step > ends[part]:
            part = next(part for part, end in enumerate(ends) if step <= end)
            second, level = part == len(LEVELS), min(part, len(LEVELS) - 1)
            stream = batches(encode, level, args.seed, args.batch, repeat=second)
            if second or step == done + 1:
                start, last = step - 1, ends[-1 if second else -2]
                optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.98), weight_decay=0.01)
        rate = min(1.0, (step - start) / 50) * min(1.0, (last - step + 1) / LEVELS[-1][-1])
        ids, tasks = next(stream)
        losses = cross_entropy(model(ids[:, :-1]).logits.transpose(1, 2), ids[:, 1:], reduction="none")
        weights = weight_of[tasks[:, 1:]]
        loss = (losses * weights).sum() / weights.sum()
        total += descend(model, optimizer, loss, args.rate * rate)
        tokens += ids.numel()
        if step % 50 == 0:
            found = accuracies(model, encode, documents(level, 0, 64, repeat=second))
            seconds = time.monotonic() - started
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
            (unfinished / "step.json").write_text(json.dumps(step))
            shown = "  ".join(f"{name} {value:.3f}" for name, value in found.items())
            reached = f"{tokens / seconds:.0f} tokens/s {seconds:.0f} s"
            print(f"step {step} level {level} loss {total / 50:.3f}  {shown}  {reached}", flush=True)
            total = 0.0
    finish(model, tokenizer, args.out)


if __name__ == "__main__":
    main()
