"""Episodes as a resources server of NeMo-Gym, for models that call the tools `search` and `submit`, and its dataset.

python -m judge_r1.integrations.nemo_gym_main --data data/pairs --rows train.jsonl
python -m judge_r1.integrations.nemo_gym_main --data data/pairs --port 8500

The wire format is that of NeMo-Gym 0.7.0: `/seed_session` opens a session, which a cookie names, and `/verify` closes
it with the reward. A verification without a reward is an HTTP error: NeMo-Gym files the rollout as failed and runs it
again. NeMo-Gym itself is not needed here: it runs its servers as processes of their own.
"""

import argparse
import os
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any
from uuid import uuid4

import uvicorn
from fastapi import Body, Cookie, FastAPI, HTTPException, Response
from fastapi.responses import PlainTextResponse

from judge_r1.core.errors import JudgeError
from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import PairSet, open_pairs
from judge_r1.files.strict_yaml import parse_yaml
from judge_r1.integrations.episodes import (
    SearchFailed,
    Sessions,
    TextEpisode,
    TextEpisodes,
    how_to_call,
    how_to_use,
    tool_prompt,
)

COOKIE = "judge_r1_session"
ARGUMENTS = {
    "search": {"query": "The words to look for."},
    "submit": {"judgment": "The JSON object."},
    "call_tool": {"name": "The name of the tool.", "text": "Its input."},
}
TOOLS = {"search": "Search the case.", "submit": "Submit the judgment, which ends the episode."}
METRICS = ("reward", "R1", "R2", "F1", "valid", "searches", "evidence_hit")
Session = Annotated[str | None, Cookie(alias=COOKIE)]


def create_app(episodes: TextEpisodes) -> FastAPI:
    app, sessions = FastAPI(), Sessions(episodes)

    def of(session: str | None) -> TextEpisode:
        if (episode := sessions.get(session or "")) is None:
            raise HTTPException(409, "there is no such session: call /seed_session first, and send its cookie")
        return episode

    @app.post("/seed_session")
    async def seed_session(response: Response, pair_id: Annotated[str, Body(embed=True)]) -> dict[str, Any]:
        session = uuid4().hex
        try:
            sessions.open(session, pair_id)
        except JudgeError as error:
            raise HTTPException(422, str(error)) from None
        response.set_cookie(COOKIE, session)
        return {}

    @app.post("/search", response_class=PlainTextResponse)
    async def search(query: Annotated[str, Body(embed=True)], session: Session = None) -> str:
        return await of(session).search(query)

    @app.post("/call_tool", response_class=PlainTextResponse)
    async def call_tool(name: Annotated[str, Body()], text: Annotated[str, Body()], session: Session = None) -> str:
        return await of(session).call_tool(name, text)

    @app.post("/submit", response_class=PlainTextResponse)
    async def submit(judgment: Annotated[str, Body(embed=True)], session: Session = None) -> str:
        return await of(session).submit(judgment)

    @app.post("/verify")
    async def verify(body: dict[str, Any], session: Session = None) -> dict[str, Any]:
        try:
            parts = of(session).reward()
        except SearchFailed as error:
            raise HTTPException(503, str(error)) from None
        finally:
            sessions.close(session or "")
        return body | parts | {"reward": parts["r"]}

    @app.post("/aggregate_metrics")
    async def aggregate_metrics(verify_responses: Annotated[list[dict[str, Any]], Body(embed=True)]) -> dict[str, Any]:
        found = {name: [float(row[name]) for row in verify_responses if name in row] for name in METRICS}
        means = {f"mean/{name}": fmean(values) for name, values in found.items() if values}
        return {"group_level_metrics": [], "agent_metrics": means, "key_metrics": means}

    @app.get("/reverify_mode")
    async def reverify_mode() -> str:
        return "unsupported"

    @app.get("/")
    async def alive() -> dict[str, str]:
        return {"status": "ok"}

    return app


def rows_of(data: PairSet, config: EpisodeConfig | None = None) -> list[dict[str, Any]]:
    """The rows of a NeMo-Gym dataset: the prompt with its tools, and the id of the pair."""
    config = config or EpisodeConfig()
    described = TOOLS | ({"call_tool": how_to_use(config)} if config.tools else {})
    tools = [
        {
            "type": "function", "name": name, "description": text, "strict": True,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string", "description": about} for key, about in ARGUMENTS[name].items()},
                "required": [*ARGUMENTS[name]], "additionalProperties": False,
            },
        }
        for name, text in described.items()
    ]  # fmt: skip
    rows = []
    for pair in data.pairs:
        *first, user = tool_prompt(pair, data, config)
        asked = [*first, user | {"content": user["content"] + how_to_call(config)}]
        rows.append({"responses_create_params": {"input": asked, "tools": tools}, "pair_id": pair.pair_id})
    return rows


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
