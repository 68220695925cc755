"""Client of Ray's job server. It uses the REST API, so submitting a job needs no Ray installation.

A cluster may require a token (Ray 2.52 and newer). The client sends it only to a server that asks for one, and looks
where Ray's client does: RAY_AUTH_TOKEN, the file RAY_AUTH_TOKEN_PATH, ~/.ray/auth_token. A cluster file may name
another file.
"""

import json
import os
import re
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import RayCluster
from judge_r1.training.launch.job import Job
from judge_r1.training.launch.render import ray_request

REQUEST_SECONDS = 60.0
START_SECONDS = 300.0
"""How long to retry while the cluster is starting."""
FINISHED = ("SUCCEEDED", "FAILED", "STOPPED")


class RayRefused(JudgeError):
    """The job server cannot be reached, requires a token, or rejected the job."""


class StillStarting(RayRefused):
    """The dashboard is up, but the head cannot run jobs yet."""


def submit(job: Job, cluster: RayCluster) -> str:
    """Submit the job with the values of its `env` variables. Returns its id on the cluster.

    Raises:
        RayRefused: The server rejected the job, Ray would change the value of a variable, or a job of the recipe is
            still running: both would write into one run folder.
    """
    for name in cluster.env:
        if re.search(r"\$[\w{]", os.environ[name]):
            raise RayRefused(f"the value of {name} holds a $ with a name after it, which Ray would replace: change it")
    jobs = request_json(cluster, "GET", "/api/jobs/")
    for other in jobs:
        of_recipe = (other.get("metadata") or {}).get("judge_r1_recipe") == job.title
        if of_recipe and other["status"] not in FINISHED:
            raise RayRefused(
                f"{other['submission_id']} is running at {cluster.address}; wait for it, or stop it: "
                f"ray job stop --address {cluster.address} {other['submission_id']}"
            )
    numbers = [re.fullmatch(rf"{job.name}--([0-9]+)", str(other.get("submission_id"))) for other in jobs]
    request = ray_request(job)
    request["runtime_env"]["env_vars"] |= {name: os.environ[name] for name in cluster.env}
    request["submission_id"] = f"{job.name}--{1 + max((int(number[1]) for number in numbers if number), default=0)}"
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            response: dict[str, str] = request_json(cluster, "POST", "/api/jobs/", request)
            return response["submission_id"]
        except StillStarting:
            if time.monotonic() > until:
                raise
            time.sleep(3)


def request_json(cluster: RayCluster, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Send a request and return the server's JSON response.

    Raises:
        RayRefused: The server cannot be reached, requires a token, or rejected the request.
    """
    try:
        return _send(cluster, method, path, body, None)
    except HTTPError as error:
        if error.code != 401:
            raise _refused(cluster, error) from None
    try:
        return _send(cluster, method, path, body, token(cluster))
    except HTTPError as error:
        raise _refused(cluster, error) from None


def token(cluster: RayCluster) -> str:
    """The token of a cluster that requires one.

    Raises:
        RayRefused: The token file cannot be read.
    """
    if cluster.token_file is None and (direct := os.environ.get("RAY_AUTH_TOKEN")):
        return direct
    named = cluster.token_file or os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token"
    file = Path(named).expanduser()
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise RayRefused(
            f"{cluster.address} requires a token, and {file} cannot be read ({error.strerror}): name the file as "
            "token_file in the cluster file, or set RAY_AUTH_TOKEN; `ray get-auth-token` on the head shows it"
        ) from None


def _send(cluster: RayCluster, method: str, path: str, body: dict[str, Any] | None, token: str | None) -> Any:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = Request(cluster.address + path, data=data, headers=headers, method=method)
    try:
        with urlopen(request, timeout=REQUEST_SECONDS) as response:
            return json.load(response)
    except HTTPError:
        raise
    except (URLError, OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise RayRefused(
            f"Ray's job server at {cluster.address} did not respond ({why}): is this the address of the dashboard?"
        ) from None


def _refused(cluster: RayCluster, error: HTTPError) -> RayRefused:
    if error.code in (401, 403):
        return RayRefused(f"{cluster.address} rejected the token: it may belong to another cluster, or be outdated")
    lines = error.read().decode(errors="replace").strip().splitlines()
    kind = StillStarting if any("No available agent" in line for line in lines) else RayRefused
    return kind(f"{cluster.address} refused the job ({error.code}): {lines[-1] if lines else error.reason}")
