"""Small traces of agents as chat messages: commands on files with numbers, and their output."""

import json
from pathlib import Path
from random import Random


def call(name: str, *commands: str) -> dict[str, object]:
    """A message of the agent that calls `bash` once for each command."""
    functions = [{"name": "bash", "arguments": json.dumps({"command": command})} for command in commands]
    calls = [{"id": f"{name}-{n}" if n else name, "type": "function", "function": f} for n, f in enumerate(functions)]
    return {"role": "assistant", "tool_calls": calls}


def result(name: str, output: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": name, "content": output}


def write_agent_traces(folder: Path, count: int, modules: int = 12) -> Path:
    """Writes `count` traces of an agent that reads and counts the lines of modules."""
    folder.mkdir(parents=True)
    for number in range(count):
        random = Random(number)
        messages: list[dict[str, object]] = [{"role": "user", "content": "Look at the rates."}]
        for step in range(modules):
            file = f"src/rate_{random.randrange(1000, 10_000)}.py"
            output = f"base = {random.randrange(100, 1000)}\nextra = {random.randrange(100, 1000)}"
            # no file is both read and counted, so a command on another file is one that was not run
            if step % 2:
                messages += [call(f"a{step}", f"cat {file}"), result(f"a{step}", output)]
            else:
                lines = random.randrange(20, 90)
                messages += [call(f"b{step}", f"wc -l {file}"), result(f"b{step}", f"{lines} {file}")]
        (folder / f"run{number}.json").write_text(json.dumps(messages))
    return folder
