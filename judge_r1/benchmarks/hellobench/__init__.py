"""HelloBench and HelloEval (arXiv 2409.16191): checklists on long texts, with learned weights.

A judge answers the questions of a checklist about each response of each system. The score of a response is the sum of
its answers, with the weights of its category; a table has S = (score - 75) * 4 by task. People's scores of some
responses give the weights (`judge-r1 fit-weights`) and the correlation of the paper's Table 5.

| file | what it does |
|---|---|
| `files` | reads the release: instructions, responses, judgements, weights |
| `options` | the text of `--subset` |
| `annotations` | reads people's scores, and released judgements to compare with |
| `text_measures` | length, repetition, refusals, BLEU, ROUGE-L, METEOR and perplexity of a text |
| `tables` | systems by tasks, and Table 5 |
| `benchmark` | puts these together, and registers the benchmark |

docs/hellobench.md lists the differences from the release.
"""

from judge_r1.benchmarks.hellobench import benchmark as benchmark  # registers it
