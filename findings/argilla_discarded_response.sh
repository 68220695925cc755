#!/usr/bin/env bash
# argilla: an export says a discarded answer is an answer.
# A response has a status: submitted, draft or discarded. `Record.to_dict`, which `records.to_json` writes, leaves it out.
# Labels that an annotator threw away count like all others in every reader of the file.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages argilla==2.8.0 requests==2.34.2 setuptools==65.5.0
seen <<'PY'
import argilla as rg
from argilla.records._io import JsonIO

record = rg.Record(
    id="1",
    fields={"text": "an answer"},
    responses=[
        rg.Response("helpful", "yes", user_id="00000000-0000-0000-0000-000000000001", status="submitted"),
        rg.Response("helpful", "no", user_id="00000000-0000-0000-0000-000000000002", status="discarded"),
    ],
)
JsonIO.to_json([record], "records.json")
written = open("records.json").read()
print(f"answers in the file: {written.count('user_id')}; the word discarded: {'discarded' in written}")
raise SystemExit("discarded" in written or written.count("user_id") != 2)
PY
