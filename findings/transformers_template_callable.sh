#!/usr/bin/env bash
# transformers: a function for a chat template arrives as a text.
# Templates such as Llama 3.2's write today's date with `strftime_now`. A caller that passes a function of this name, to
# get the same prompt every day, got its date up to 5.10; 5.24 turns every variable of a template into plain data, so
# that the template calls a text and fails.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages transformers==5.24.0 jinja2==3.1.6
seen <<'PY'
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"x": 0}, unk_token="x")))
tokenizer.chat_template = "{{ strftime_now('%Y') }}"
messages = [{"role": "user", "content": "x"}]
assert len(tokenizer.apply_chat_template(messages, tokenize=False)) == 4
try:
    found = tokenizer.apply_chat_template(messages, tokenize=False, strftime_now=lambda form: "1999")
except TypeError as error:
    found = f"TypeError: {error}"
assert found == "TypeError: 'str' object is not callable", found
print(f"strftime_now=FUNCTION: {found}")
PY
