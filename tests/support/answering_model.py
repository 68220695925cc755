"""Trains a model that searches once and then guesses, with valid answers."""

from pathlib import Path

import torch
from scripted_backend import ScriptedBackend

from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.rollout import RolloutRunner
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import Sampling
from judge_r1.models.hub import eos_ids, load_model, load_tokenizer
from judge_r1.training.trl.sft import training_row


def train_to_answer(model_name: str, episode: EpisodeConfig, pairs: PairSet, folder: Path, *, steps: int = 200) -> Path:
    """Train a copy of the model on 16 episodes of the pairs, four in a step, and save it in `folder`."""
    model, hf_tokenizer = load_model(model_name), load_tokenizer(model_name)
    tokenizer = SafeTokenizer(hf_tokenizer)
    lines, sampled_pairs = [], []
    for number in range(16):
        query = ["ana paid", "kara took", "liam signed"][number % 3]
        answer = f'{{"comparison": "A{"<>"[number % 2]}B", "violated_principles": [{2 + number // 2 % 2}]}}'
        lines.append([f"<search>{query}</search>", f"<answer>{answer}</answer>"])
        sampled_pairs.append(pairs.pairs[number % len(pairs.pairs)])
    runner = RolloutRunner(
        pairs, episode, tokenizer, ScriptedBackend(tokenizer, lines), eos_ids(model_name, hf_tokenizer)
    )
    rows = [training_row(t, hf_tokenizer.eos_token_id) for t in runner.run(sampled_pairs, Sampling())]
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row["input_ids"]) for row in rows], batch_first=True)
    labels = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row["labels"]) for row in rows], batch_first=True, padding_value=-100
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model.train()
    for step in range(steps):
        optimizer.zero_grad()
        model(ids[step % 4 :: 4], labels=labels[step % 4 :: 4]).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    hf_tokenizer.save_pretrained(folder)
    return folder
