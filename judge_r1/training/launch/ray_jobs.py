"""Ray's job server over its REST interface, so that a laptop needs no Ray to send a job; each request has a deadline.

A cluster may want a token (Ray 2.52 and newer). It is sent only to a server that asks for one, found where Ray's own
client looks: RAY_AUTH_TOKEN, the file RAY_AUTH_TOKEN_PATH, ~/.ray/auth_token; a cluster file may name another file.
"""

import json
import os
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
"""How long a cluster may answer that it cannot take a job yet."""
OVER = ("SUCCEEDED", "FAILED", "STOPPED")


class RayRefused(JudgeError):
    """The job server cannot be reached, wants a token, or did not take the job."""


class StillStarting(RayRefused):
    """The dashboard is up and the head that runs jobs is not."""


def submit(job: Job, cluster: RayCluster) -> str:
    """Send the job with the values of the variables that it passes by name; returns its id on the cluster. Errors:
    RayRefused, also where a job of that recipe is still under way: two would write into one run folder."""
    earlier = [j for j in ask(cluster, "GET", "/api/jobs/") if str(j.get("submission_id")).startswith(f"{job.name}--")]
    for other in earlier:
        if other["status"] not in OVER:
            raise RayRefused(
                f"{other['submission_id']} is under way at {cluster.address}; wait for it, or stop it: "
                f"ray job stop --address {cluster.address} {other['submission_id']}"
            )
    request = ray_request(job)
    request["runtime_env"]["env_vars"] |= {name: os.environ[name] for name in cluster.env}
    request["submission_id"] = f"{job.name}--{len(earlier) + 1}"
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            answer: dict[str, str] = ask(cluster, "POST", "/api/jobs/", request)
            return answer["submission_id"]
        except StillStarting:
            if time.monotonic() > until:
                raise
            time.sleep(3)


def status(cluster: RayCluster, submission: str) -> str:
    """PENDING, RUNNING, or one of `OVER`."""
    answer: dict[str, str] = ask(cluster, "GET", f"/api/jobs/{submission}")
    return answer["status"]


def ask(cluster: RayCluster, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """The server's answer. Errors: RayRefused."""
    try:
        return _ask(cluster, method, path, body, None)
    except HTTPError as error:
        if error.code != 401:
            raise _refused(cluster, error) from None
    try:
        return _ask(cluster, method, path, body, token(cluster))
    except HTTPError as error:
        raise _refused(cluster, error) from None


def token(cluster: RayCluster) -> str:
    """The token for a cluster that asks for one. Errors: RayRefused where there is none."""
    if cluster.token_file is None and (direct := os.environ.get("RAY_AUTH_TOKEN")):
        return direct
    named = cluster.token_file or os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token"
    file = Path(named).expanduser()
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise RayRefused(
            f"{cluster.address} wants a token, and {file} cannot be read ({error.strerror}): name the file as "
            "token_file in the cluster file, or set RAY_AUTH_TOKEN; `ray get-auth-token` on the head shows it"
        ) from None


def _ask(cluster: RayCluster, method: str, path: str, body: dict[str, Any] | None, token: str | None) -> Any:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = Request(cluster.address + path, data=data, headers=headers, method=method)
    try:
        with urlopen(request, timeout=REQUEST_SECONDS) as answer:
            return json.load(answer)
    except HTTPError:
        raise
    except (URLError, OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise RayRefused(
            f"Ray's job server at {cluster.address} gave no answer ({why}): is it the dashboard's?"
        ) from None


def _refused(cluster: RayCluster, error: HTTPError) -> RayRefused:
    if error.code in (401, 403):
        return RayRefused(f"{cluster.address} does not take the token: it is another cluster's, or an old one")
    lines = error.read().decode(errors="replace").strip().splitlines()
    kind = StillStarting if any("No available agent" in line for line in lines) else RayRefused
    return kind(f"{cluster.address} refused the job ({error.code}): {lines[-1] if lines else error.reason}")
