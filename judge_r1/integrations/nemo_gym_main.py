"""Starts the resources server for NeMo-Gym, or writes its dataset.

python -m judge_r1.integrations.nemo_gym_main --data data/pairs --rows train.jsonl
python -m judge_r1.integrations.nemo_gym_main --data data/pairs --port 8500
"""

import argparse
import os
from pathlib import Path
from typing import Any

import uvicorn

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import open_pairs
from judge_r1.core.strict_yaml import parse_yaml
from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.integrations.episodes import TextEpisodes
from judge_r1.integrations.nemo_gym_server import create_app, rows_of


def main() -> None:
    flags = argparse.ArgumentParser(description="Serves the episodes of a data folder to NeMo-Gym.")
    flags.add_argument("--data", help="folder of cases and pairs")
    flags.add_argument("--rows", help="write the dataset for NeMo-Gym to this file, and end")
    flags.add_argument("--episode", action="append", metavar="KEY=VALUE", default=[], help="option of the episode")
    flags.add_argument("--host", default="127.0.0.1")
    flags.add_argument("--port", type=int, default=8500)
    flags.set_defaults(**_configured())
    given = flags.parse_args()
    if not given.data:
        flags.error("--data names no folder of cases and pairs")
    try:
        data, config = open_pairs(Path(given.data)), with_options(EpisodeConfig(), given.episode)
        if given.rows:
            write_jsonl(Path(given.rows), rows_of(data, config))
            return
        app = create_app(TextEpisodes(data, config))
    except JudgeError as error:
        flags.error(str(error))
    uvicorn.run(app, host=given.host, port=given.port)


def _configured() -> dict[str, Any]:
    """The settings of this server in NeMo-Gym's configuration, which it hands to the processes that it starts."""
    if not (name := os.environ.get("NEMO_GYM_CONFIG_PATH")):
        return {}
    whole = parse_yaml(os.environ["NEMO_GYM_CONFIG_DICT"], "NEMO_GYM_CONFIG_DICT")
    [own] = whole[name]["resources_servers"].values()
    return {key: own[key] for key in ("data", "episode", "host", "port") if key in own}


if __name__ == "__main__":
    main()
