#!/usr/bin/env bash
# datasets: the content of chat messages becomes a date.
# JSON has no dates, so one expects the strings of a JSON Lines file to come back as strings. If every value of a field
# looks like a date, the reader makes timestamps of them, also inside nested messages: `content` is then no string.
# One other answer in the file changes the type of all.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages datasets==5.2.0
seen <<'PY'
import json

from datasets import load_dataset


def contents(*answers: str) -> list:
    name = f"{len(answers)}.jsonl"
    with open(name, "w") as file:
        for answer in answers:
            file.write(json.dumps({"messages": [{"role": "assistant", "content": answer}]}) + "\n")
    rows = load_dataset("json", data_files=name, split="train", cache_dir="cache")
    return [row["messages"][0]["content"] for row in rows]


dates, mixed = contents("2021-03-04"), contents("2021-03-04", "in spring")
print(f"content 2021-03-04: {dates[0]!r}; beside another text: {mixed[0]!r}")
raise SystemExit(type(dates[0]).__name__ != "datetime" or mixed[0] != "2021-03-04")
PY
