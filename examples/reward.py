"""A judge as the reward of TRL's GRPO: the answers to one question compete, and the better ones are reinforced.

judge-r1 serve --judge direct@https://host/v1#model
python reward.py Qwen/Qwen3-0.6B questions.jsonl http://127.0.0.1:8000 runs/rewarded

A line of the file is {"prompt": "a question"}. The judge stays as it is, and may be a SPEC instead of a URL.
"""

import sys
from pathlib import Path

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from judge_r1.files.tabular import rows
from judge_r1.rewards.trl import GroupReward


def train(model: str, questions: str, judge: str, out: str, **options: object) -> GRPOTrainer:
    """`swiss` lets answers with similar results meet; `circular` asks for fewer judgments."""
    reward = GroupReward(judge, schedule="swiss")
    settings = {"num_generations": 4, "per_device_train_batch_size": 8, "max_completion_length": 256, "max_steps": 100}
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward,  # a failed judgment is None: that answer is left out of its group, and counted
        args=GRPOConfig(output_dir=out, report_to=[], logging_steps=1, **settings | options),
        train_dataset=Dataset.from_list([{"prompt": row.text("prompt")} for row in rows(Path(questions))]),
    )
    trainer.train()
    reward.close()
    trainer.save_model(out)
    return trainer


if __name__ == "__main__":
    train(*sys.argv[1:5])
