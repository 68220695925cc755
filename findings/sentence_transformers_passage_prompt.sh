#!/usr/bin/env bash
# sentence-transformers: `encode_document` leaves out a prompt that a model ships for passages.
# The documentation says that `encode_document` uses the first of the prompts "document", "passage" and "corpus". A model
# that ships the prompts of E5, "query" and "passage", gets an empty prompt "document" when it is loaded. That one is
# then the first, so its passages are embedded without their prompt, while its queries get theirs.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages sentence-transformers==6.2.0 torch==2.13.0 transformers==5.10.4
seen <<'PY'
import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

words = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "query", "passage", ":", "ana", "paid"])}
plain = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
plain.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="[UNK]", pad_token="[PAD]").save_pretrained("bert")
torch.manual_seed(0)
sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained("bert")
encoder = Transformer("bert")
prompts = {"query": "query: ", "passage": "passage: "}
SentenceTransformer(modules=[encoder, Pooling(16)], prompts=prompts, device="cpu").save("model")

model = SentenceTransformer("model", device="cpu")
found, bare = model.encode_document(["ana paid"]), model.encode(["ana paid"], prompt="")
wanted = model.encode(["ana paid"], prompt="passage: ")
same, other = (float(np.abs(found - one).max()) for one in (bare, wanted))
print(f"prompts {model.prompts}: the passage differs by {same:.1g} from the bare text, by {other:.1g} from the prompted")
raise SystemExit(same > 1e-6 or other < 1e-3)
PY
