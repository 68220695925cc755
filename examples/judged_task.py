"""A task of Inspect whose answers a served judge compares with the targets.

inspect eval judged_task.py --model openai/gpt-4o
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample

from judge_r1.integrations.inspect_plugin import judged


@task
def essays(url: str = "http://127.0.0.1:8000") -> Task:
    return Task(dataset=[Sample(input="Why is the sky blue?", target="Rayleigh scattering.")], scorer=judged(url))
