"""Rebuild the tiny base model that ships in judge_r1/models/tiny (about half an hour on two cores).

The model is a Qwen3-shaped causal LM with 1.2 M parameters and a byte-level BPE of the `mini` vocabulary. Its
pre-training text consists of check lists: a numbered list, a look-up for each line, and for each word of the record
whether it is the same. The text contains no pair of reasonings, no principle and no verdict. The step at which the
comparison circuit forms varies with the seed, so the learning rate decays only after a held-out test passes. A stopped
run resumes. The model in the repository was trained in three runs while the text was extended, so a rebuild gives an
equivalent model with other weights.

    python scripts/build_tiny_base.py --out judge_r1/models/tiny
"""

import argparse
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from data_builders.rationales.mini import side_by_side
from data_builders.sources.mini import DOCUMENTS, EVENTS, INFERENCES, MONTHS, NAMES, WORDS, Fact, facts_of, read
from judge_r1.core.records import Case
from judge_r1.episode.tags import NAMES as TAG_NAMES

TEMPLATE = (
    "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% endif %}"
)
EXTRA_WORDS = (
    " judge two medical legal academic reasonings A and B by 1 logic 2 facts 3 fairness 4 grounds 5 help 6 harm search"
    ' case: decision: A: B: {"comparison": "A>B", "violated_principles": [1, 2, 3, 4, 5, 6]} {"comparison": "A<B",'
    ' "violated_principles": [2]} 0 1 2 3 4 5 6 searches left nothing found; no passage fits here; empty query;'
    " answer now A 1 B 2 A 3 B 4 is fair ok unfair vague harmful illogical principle sound advice unchecked the rest"
)


Text = list[tuple[str, float]]
"""A text as the segments that an episode encodes separately, each with its loss weight: low for text that cannot be
predicted (prompts, records), high for the few tokens that matter (copied claims, findings)."""
GIVEN, WRITTEN, COPIED = 0.02, 1.0, 3.0
FINDING = 5.0


def check_list(case: Case, label: str, spent: int, rng: Random) -> tuple[str, Text]:
    """Returns a numbered list about a case (some lines wrong, some invented) and the look-up of each line."""
    facts, events = facts_of(case.context), EVENTS[case.domain]
    known = {(fact.who, fact.did) for fact in facts}
    lines: list[str] = []
    checks: Text = []
    claims = rng.sample(facts, rng.randint(1, 3))
    for number, fact in enumerate(claims, 1):
        wrong, claim, found = rng.choice(["nothing", "value", "event"]), fact, fact
        if wrong == "value":
            claim = Fact(fact.who, fact.did, rng.choice([v for v in events[fact.did] if v != fact.value]))
        elif wrong == "event":
            free = [(w, d) for w in NAMES for d in events if (w, d) not in known and (w == fact.who or d == fact.did)]
            who, did = rng.choice(free)
            claim = Fact(who, did, rng.choice(events[did]))
        tail = rng.choice([*INFERENCES * 2, *WORDS.non_sequiturs.values(), *WORDS.prejudices.values()])
        lines.append(f"{number}. {claim}, {tail}.")
        checks += [
            ("<think>", WRITTEN),
            (f"{label} {number} says", WRITTEN),
            (f" {claim}, {tail}", COPIED),
            ("</think>", WRITTEN),
        ]
        checks += [("<search>", WRITTEN), (f"{claim.who} {claim.did}", WRITTEN), ("</search>", WRITTEN)]
        checks += [(part, GIVEN) for part in ("<information>", "\n[1]", f" {found}.")]
        checks += [(f"\n({6 - spent - number} searches left)</information>", GIVEN)]
        checks += [("<think>", WRITTEN), (side_by_side(found, claim), WRITTEN), ("</think>", WRITTEN)]
    advice = f"next ask {{who}} for the {{document}} by {rng.choice(MONTHS)}"
    advice = rng.choice([advice] * 3 + [*WORDS.vague.values(), *WORDS.harmful.values()])
    advice = advice.format(who=rng.choice(NAMES), document=rng.choice(DOCUMENTS))
    checks += [("<think>", WRITTEN), (f"{label} {len(claims) + 1} says", WRITTEN)]
    checks += [(f" {' '.join(advice.split()[:2])}", COPIED), ("</think>", WRITTEN)]
    lines.append(f"{len(claims) + 1}. {advice}.")
    return "\n".join(lines), checks


def document(case: Case, rng: Random) -> Text:
    """Returns one or two lists about one record, and the check of every line of one or both lists. One prompt in ten
    also shows the record."""
    labels = rng.choice(["A", "B", "AB", "AB", "AB"])
    checked = rng.choice([labels, *labels])
    prompt = [
        f"<|im_start|>system\nlook up the lines of {' and '.join(checked)} search 6<|im_end|>\n<|im_start|>user\n"
    ]
    if rng.random() < 0.1:
        prompt += ["case: ", case.context, "\n"]
    prompt += ["decision: ", case.decision]
    checks: Text = []
    spent = 0
    for label in labels:
        listed, found = check_list(case, label, spent, rng)
        prompt += [f"\n{label}:\n", listed]
        if label in checked:
            checks += found
            spent += sum(part == "<search>" for part, _ in found)
    prompt.append("<|im_end|>\n<|im_start|>assistant\n")
    return [*((part, GIVEN) for part in prompt), *checks, ("<|im_end|>", WRITTEN)]


def drill(rng: Random) -> Text:
    """Returns pairs of words, each followed by whether they are the same."""
    kinds = [NAMES, *(list(events) for events in EVENTS.values()), *(v for e in EVENTS.values() for v in e.values())]
    text: Text = [("<|im_start|>user\ncompare<|im_end|>\n<|im_start|>assistant\n<think>", GIVEN)]
    for _ in range(40):
        words = rng.choice(kinds)
        first = rng.choice(words)
        second = first if rng.random() < 0.5 else rng.choice(words)
        text += [(f" {first} {second}", GIVEN), (" same" if first == second else " differs", WRITTEN)]
    return [*text, ("</think><|im_end|>", WRITTEN)]


def documents(seed: int, count: int) -> list[Text]:
    """Returns list look-ups; one text in four is a drill."""
    rng = Random(seed)
    return [drill(rng) if rng.random() < 0.25 else document(case, rng) for case in read(None, count, seed, Counter())]


def plain(text: Text) -> str:
    return "".join(part for part, _ in text)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Builds a byte-level BPE (lossless) with one token per vocabulary word and the tags as plain added tokens."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    bpe.decoder = decoders.ByteLevel()
    values = {value for events in EVENTS.values() for values in events.values() for value in values}
    vocabulary = "".join(f" {word}" for word in sorted({*NAMES, *values, *(d for e in EVENTS.values() for d in e)}))
    texts = [EXTRA_WORDS, vocabulary] * 500 + [plain(text) for text in documents(7, 2000)]
    for control in ("<|im_start|>", "<|im_end|>", *(f"<{s}{n}>" for n in TAG_NAMES for s in ("", "/"))):
        texts = [text.replace(control, " ") for text in texts]
    return train_tokenizer(bpe, texts, 1200)


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


def build_model(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=8,
        head_dim=32,
        **shared_config(tokenizer),
    )
    model = Qwen3ForCausalLM(config)
    # Two standard initialisations are too small for this model: normalised queries and keys cannot select one token in
    # 200, and with tied embeddings a rare word gets no confident prediction until its vector has grown.
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=0.1)
    for layer in model.model.layers:
        torch.nn.init.constant_(layer.self_attn.q_norm.weight, 1.6)
        torch.nn.init.constant_(layer.self_attn.k_norm.weight, 1.6)
    return model


def shared_config(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    return {
        "max_position_embeddings": 2048,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }


def _encode(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    return ids


def batch_of(tokenizer: PreTrainedTokenizerFast, texts: Sequence[Text]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns right-padded ids and loss weights, both `[texts, tokens]`."""
    findings = torch.tensor(finding_ids(tokenizer))
    rows = [
        torch.tensor([(token, weight) for part, weight in text for token in _encode(tokenizer, part)]) for text in texts
    ]
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    weights = padded[..., 1]
    ids = torch.where(weights > 0, padded[..., 0], tokenizer.pad_token_id).long()
    return ids, torch.where(torch.isin(ids, findings) & (weights >= 1), FINDING, weights)


def finding_ids(tokenizer: PreTrainedTokenizerFast) -> list[int]:
    return [tokenizer.encode(f" {name}", add_special_tokens=False)[0] for name in ("same", "differs")]


def batches_of(tokenizer: PreTrainedTokenizerFast, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields endless batches of 32 new texts of similar length, to limit padding."""
    for block in count(seed * 1_000_003):
        texts = sorted(documents(block, 256), key=lambda text: len(plain(text)))
        starts = list(range(0, len(texts), 32))
        Random(block).shuffle(starts)
        for start in starts:
            yield batch_of(tokenizer, texts[start : start + 32])


@torch.no_grad()
def accuracies(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, texts: list[Text]) -> tuple[float, float]:
    """Teacher-forced accuracy on held-out texts: of the findings (same, differs), and of all look-up tokens."""
    ids, weights = batch_of(tokenizer, texts)
    guesses = model(ids, attention_mask=(weights > 0).long()).logits[:, :-1].argmax(-1)
    right = guesses == ids[:, 1:]
    is_finding, is_written = weights[:, 1:] == FINDING, weights[:, 1:] >= 1
    return float(right[is_finding].float().mean()), float(right[is_written].float().mean())


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
    parser.add_argument("--threshold", type=float, default=0.975, help="both held-out accuracies must reach it")
    parser.add_argument("--max-minutes", type=float, default=60)
    parser.add_argument("--decay-steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    unfinished = args.out / "unfinished"
    resuming = unfinished.exists()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(unfinished) if resuming else build_tokenizer()
    model = Qwen3ForCausalLM.from_pretrained(unfinished) if resuming else build_model(tokenizer)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens", flush=True)
    held_out = documents(10_000_019, 128)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98), weight_decay=0.01)
    batches = batches_of(tokenizer, args.seed)
    started, step, total = time.monotonic(), 0, 0.0
    decay_from = 0 if min(accuracies(model, tokenizer, held_out)) >= args.threshold else None
    while decay_from is None or step < decay_from + args.decay_steps:
        step += 1
        rate = min(1.0, step / 60)
        if decay_from is not None:
            rate *= 1 - (step - decay_from) / (args.decay_steps + 1)
        ids, weights = next(batches)
        logits = model(ids[:, :-1], attention_mask=(weights[:, :-1] > 0).long()).logits
        losses = cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        loss = (losses * weights[:, 1:]).sum() / weights[:, 1:].sum()
        total += descend(model, optimizer, loss, 2e-3 * rate)
        if step % 100 == 0:
            (comparison, written), seconds = accuracies(model, tokenizer, held_out), time.monotonic() - started
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
            reached = f"comparison {comparison:.3f}  written {written:.4f}"
            print(f"step {step}  loss {total / 100:.3f}  {reached}  {seconds:.0f} s", flush=True)
            total = 0.0
            if decay_from is None and (min(comparison, written) >= args.threshold or seconds > args.max_minutes * 60):
                decay_from = step
    finish(model, tokenizer, args.out)


if __name__ == "__main__":
    main()
