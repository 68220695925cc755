"""The cells of HelloBench's Tables 2 to 4 (arXiv 2409.16191), and those that its released judgements do not give."""

from judge_r1.benchmarks.published import published

[PUBLISHED] = published("hellobench", None, same_items=True)
MEASURED = PUBLISHED.measured(None)
TASK_COLUMNS = [f"S {name}" for name in ("OEQA", "Summ", "Chat", "TC", "HTG", "AVG")]
LENGTH_COLUMNS = [f"S HTG-{thousands}k" for thousands in (2, 4, 8, 16)]
UNRELEASED = {("longwriter_9b", "S HTG-8k"), ("longwriter_9b", "S HTG-16k")}
TABLES_2_AND_4 = {model: [MEASURED[column][model] for column in TASK_COLUMNS] for model in MEASURED["S AVG"]}
"""Model -> S of OEQA, Summ, Chat, TC, HTG, and their average."""
TABLE_3 = {
    model: [MEASURED[column][model] for column in LENGTH_COLUMNS if (model, column) not in UNRELEASED]
    for model in MEASURED["S HTG-2k"]
}
"""Model -> S of HTG with 2k, 4k, 8k and 16k words, as far as judgements are released."""
# (model, task) -> S from the released judgements, where it differs from the paper
DEVIATIONS = {
    ("mistral_large_api", "open_ended_qa"): 53.13,
    ("mistral_large_api", "chat"): 32.75,
    ("claude35", "chat"): 32.11,
    ("deepseek_chat_api", "open_ended_qa"): 44.25,
    ("deepseek_chat_api", "chat"): 33.84,
    ("qwen_max", "open_ended_qa"): 50.54,
    ("qwen_max", "chat"): -0.94,
    ("glm4_api", "open_ended_qa"): 47.71,
    ("glm4_api", "chat"): 1.97,
    ("gemma2_27b", "open_ended_qa"): 52.14,
    ("gemma2_27b", "chat"): 18.9,
    ("internlm25_20b", "open_ended_qa"): 51.35,
    ("internlm25_20b", "summarization"): 7.45,
    ("internlm25_20b", "chat"): 6.62,
    ("llama31_8b", "summarization"): 18.44,
    ("glm4_9b", "open_ended_qa"): 40.97,
    ("glm4_9b", "chat"): 0.81,
    ("suri_7b", "chat"): -118.15,
    ("yi15_34b_16k", "chat"): -6.71,
    ("internlm25_7b_1m", "chat"): -25.89,
    ("glm4_9b_1m", "chat"): -54.91,
}
