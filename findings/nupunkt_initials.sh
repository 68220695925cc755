#!/usr/bin/env bash
# nupunkt: a sentence ends inside the initials of a person.
# The package splits legal texts and knows thousands of legal abbreviations, so one expects the anonymised parties of a
# judgment to stay whole. The sentence ends after the last initial, or with a space between the initials after the first.
# Judgments of the European Court of Human Rights write both forms.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages nupunkt==0.8.0
seen <<'PY'
from nupunkt import sent_tokenize

together = sent_tokenize("In 1999 Gy.B. continued to stay with her aunt.")
apart = sent_tokenize("In 1999 Gy. B. continued to stay with her aunt.")
print(f"together: {together}; apart: {apart}")
raise SystemExit((len(together), len(apart)) != (2, 2))
PY
