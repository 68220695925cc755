"""Fuzzing by the OpenAPI document: no request causes a server error."""

import tempfile
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance
from serving_fixture import service

from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.middleware.body_limit import Limits

FILE = Path(tempfile.mkdtemp()) / "keys.json"
KEY = add_key(FILE, "fuzz", 10**6)
LIMITS = Limits(body=20_000, case=2_000, batch=8, candidates=4, group=4, group_s=0.05)
SERVED = service("longer", limits=LIMITS, keys=KeyFile(FILE))
schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(SERVED))


@schema.parametrize()
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_causes_a_server_error(case: schemathesis.Case) -> None:
    response = case.call(headers={"Authorization": f"Bearer {KEY}"})
    case.validate_response(response, checks=(not_a_server_error, status_code_conformance, response_schema_conformance))
