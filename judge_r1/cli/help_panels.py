"""The panels of `--help` for commands with many options. Options without a panel are under "Options"."""

from collections.abc import Mapping
from typing import Any

_TEACHER = "budget prices cache batch_export batch_import"
PANELS: Mapping[str, Mapping[str, str]] = {
    "build": {
        "Flaws": "kinds variants candidates set_options",
        "Teacher": f"teacher verify keep prompts early_stop concurrency {_TEACHER} rationales recipe",
        "Running": "preview yes overwrite",
    },
    "split": {
        "Nested training sets": "sizes test dev",
        "Prompt lengths": "recipe model max_prompt_tokens",
    },
    "rationales": {"Teacher": f"concurrency {_TEACHER}"},
    "train": {"Machines": "processes nodes gpus_per_node gpu"},
    "generate": {"Sampling": "max_tokens temperature seed batch_size"},
    "eval": {
        "Comparisons": "baselines examples table11 predictions",
        "Sampling": "temperature seed batch_size",
        "Running": "engine workers resume unanswered",
    },
    "rate": {
        "Votes that count": "on_invalid criterion partial top refused",
        "Fit": "anchor scale prior repeats seed",
        "Comparisons": "compare without repo_compat published",
    },
    "serve": {
        "Access and traces": "keys traces",
        "Limits": "max_concurrency queue_size timeout body_mib case_mib cases_mib max_batch_size group_timeout "
        "max_connections max_connections_per_client drain_timeout",
    },
}
"""Command -> panel -> the names of its options."""


def group_options(name: str, command: Any) -> None:
    """Put the options of a command into its panels."""
    options = {option.name: option for option in command.params}
    for panel, names in PANELS.get(name, {}).items():
        for option in names.split():
            options[option].rich_help_panel = panel
