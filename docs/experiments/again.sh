#!/usr/bin/env bash
# Measures an experiment of docs/results.md again: bash docs/experiments/again.sh NAME
# Run it in the root of a clean checkout. DATA: the folder of the corpora; LONGJUDGEBENCH, JUDGEMEMO: their checkouts;
# SCORES: hellobench_gpt4o_checklist_scores.jsonl.gz. A function that checks out a commit needs a script that main no
# longer has.
set -euo pipefail
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"

mini_judges() { # two more seeds and the grid: 35 minutes
  judge-r1 demo --source mini --out runs/mini
  git checkout 02538a24
  python -m scripts.reproduce_mini_results --demo runs/mini
}

mini_dpo() { # SFT 4 minutes, each rate of DPO 2.5
  judge-r1 demo --source mini --out runs/mini
  judge-r1 train recipes/mini/json.yaml sft.examples=2000 --out runs/json
  for rate in 1e-4 1e-5 1e-6; do
    judge-r1 train recipes/mini/dpo.yaml start=null model=runs/json/model dpo.max_steps=60 dpo.learning_rate=$rate --out runs/dpo-$rate
  done
  judge-r1 eval --judge base=agentic@bundled:tiny --judge sft=agentic@runs/json/model --judge dpo-1e-4=agentic@runs/dpo-1e-4/model \
    --judge dpo-1e-5=agentic@runs/dpo-1e-5/model --judge dpo-1e-6=agentic@runs/dpo-1e-6/model \
    --recipe recipes/mini/json.yaml --path runs/mini/data/test --out runs/direct
}

engines() {
  judge-r1 demo --source mini --out runs/mini
  judge-r1 train recipes/mini/grpo.yaml grpo.engine=verl grpo.traced_pairs=12 --out runs/replay/verl
  python -m scripts.bench.replay runs/replay/verl --out runs/replay/trl
  git checkout e4bea494
  python -m scripts.bench.engines --demo runs/mini --out runs/engines $(seq -f '--seed %g' 0 15)
  python -m scripts.bench.samplers --demo runs/mini --model runs/mini/warmup/model --samples 20
}

analysis() {
  judge-r1 demo --source mini --out runs/mini
  judge-r1 eval --judge warm-up=agentic@runs/mini/warmup/model --judge grpo=agentic@runs/mini/grpo/model --judge longer \
    --path runs/mini/data/test --limit 80 --out runs/mini-eval
  judge-r1 analyse attention runs/mini-eval --path runs/mini/data/test --judge-name grpo --model bundled:tiny --model runs/mini/grpo/model --out runs/analysis
  judge-r1 analyse reasoning runs/mini-eval --path runs/mini/data/test --out runs/analysis
  judge-r1 analyse class-bias runs/mini-eval --path runs/mini/data/test --out runs/analysis
  judge-r1 analyse errors runs/mini-eval --path runs/mini/data/test --out runs/analysis
}

haystack() { # a draw takes 12 minutes on an idle core, another 20 for the rows after the first
  for draw in 3 4 5; do
    python -m scripts.run_haystack --out runs/haystack-$draw --draw $draw --seeds 1 --split test --rows GRPO
    python -m scripts.run_haystack --out runs/haystack-$draw --draw $draw --seeds 1 --rows "GRPO, shuffled labels" "100 steps, sum" "100 steps, decoupled"
  done
  python -m scripts.run_haystack --table runs/haystack-{3,4,5}/table-test.json --merged recipes/haystack/results.json
  python -m scripts.run_haystack --source haystack-short --out runs/haystack-short --draw 3 --seeds 1 --split test \
    --rows fc search fc-search warm-fc warm-fc-search GRPO # an hour
}

beyond() { # 40 minutes on two cores
  python -m scripts.run_beyond --out runs/beyond --seeds 3 --split test
  judge-r1 eval --judge longer --path runs/beyond/data/test --out runs/beyond-longer
  python -m scripts.beyond_tools --out runs/beyond_tools --seeds 0 1 2
  for threshold in 0.6 0.75 0.9; do # after haystack, whose models it takes
    judge-r1 eval --judge "cascade:threshold=$threshold(evidence|agentic@runs/haystack-3/3/GRPO/model)" --judge agentic@runs/haystack-3/3/GRPO/model \
      --recipe recipes/haystack/warmup.yaml --path runs/haystack-3/data/dev --out "runs/cascade-$threshold"
  done
}

casebook() { # the audit takes 2 minutes, a pair of the test part 40 seconds
  judge-r1 build casebook options.part=all --out runs/casebook-all
  judge-r1 audit shortcuts runs/casebook-all --language-model none
  for domain in academic legal; do
    judge-r1 eval --benchmark casebook --subset "part=test,$domain" --judge likelihood@bundled:smollm2-135m --batch-size 1 --out runs/casebook-$domain
  done
}

judgememo() {
  judge-r1 build cofluence limit=10 options.story_tokens=300 options.lengths=full,100 options.intensity.exchange_content=10 \
    options.intensity.temporal=10 options.intensity.terms=100 options.intensity.typos=10 options.intensity.verb_tense=30 \
    options.intensity.word_order=30 --out runs/tiny
  judge-r1 eval --benchmark cofluence --path runs/tiny --out runs/tiny/eval --batch-size 8 --resume \
    --judge "whole=document:form=v1,max_tokens=16,retries=0,constrain=true,memory=runs/tiny/memory@bundled:smollm2-135m" \
    --judge "memo=memo:form=v1,scan=130,overlap=0,max_tokens=16,retries=0,final=false,constrain=true,memory=runs/tiny/memory@bundled:smollm2-135m"
  git checkout e4bea494
  python -m scripts.run_judgememo --out runs/judgememo
}

judgememo_thesis() {
  git checkout e4bea494
  python -m scripts.judgememo_thesis
  python -m scripts.judgememo_thesis --released "$JUDGEMEMO"
}

cofluence_edits() {
  apt-get install --no-install-recommends r-cran-janeaustenr
  mkdir -p austen
  Rscript -e 'for (b in levels(janeaustenr::austen_books()$book)) {
    lines <- subset(janeaustenr::austen_books(), book == b)$text
    part <- (cumsum(grepl("^chapter ", lines, ignore.case = TRUE)) - 1) %/% 5
    for (n in 0:1) writeLines(lines[part == n], sprintf("austen/%s %d.txt", b, n + 1))
  }'
  judge-r1 build cofluence path=austen options.clean=true options.types=all "options.license=public domain" --out runs/austen
}

checklist_forms() {
  pytest -m real_data -s tests/judge_r1/judges/test_checklist_forms.py
}

leaderboard() { # 9 minutes after the demo
  git checkout e4bea494
  judge-r1 demo --source mini --out runs/mini
  python -m scripts.make_leaderboard --data "$DATA" --demo runs/mini --out runs/leaderboard --items 30
  judge-r1 report runs/leaderboard --out board.html --markdown board.md
}

published_outputs() { # FILE: an output file of the benchmark
  for name in judgebench llmbar pandalm; do
    judge-r1 eval --benchmark $name --path "$DATA/$name" --predictions "$FILE" --out runs/published-$name
  done
}

evidence() { # DATA/medical_medrbench, legal_echr_argmining, academic_f1000rd and academic_elife
  judge-r1 build medrbench path="$DATA/medical_medrbench" --out runs/evidence/medrbench/pairs
  judge-r1 build echr path="$DATA/legal_echr_argmining" --out runs/evidence/echr/pairs
  judge-r1 build f1000rd path="$DATA/academic_f1000rd" --out runs/evidence/f1000rd/pairs
  judge-r1 build elife path="$DATA/academic_elife" --out runs/evidence/elife/pairs
  for name in medrbench echr f1000rd elife; do
    judge-r1 split runs/evidence/$name/pairs --test-share 0.5 --out runs/evidence/$name
  done
  for part in dev:train test:test; do
    measure="python -m scripts.bench.evidence --part ${part%:*}"
    $measure --out evidence.csv -- runs/evidence/*/${part#*:}
    $measure --queries --out evidence_queries.csv -- runs/evidence/*/${part#*:}
    for judge in evidence longer likelihood@bundled:smollm2-135m direct@bundled:smollm2-135m; do # an hour or more
      $measure --limit 20 --judge $judge --out evidence_models.csv -- runs/evidence/*/${part#*:}
    done
  done
}

trivial_baselines() {
  git checkout b49da3b9
  for name in judgebench llmbar pandalm hhh ood; do
    judge-r1 eval --benchmark $name --path "$DATA/$name" --judge always-a --judge longer --judge overlap --judge random --out runs/$name
  done
  judge-r1 eval --benchmark llmbar --path "$DATA/llmbar" --subset Processed --judge always-a --judge longer --judge overlap --judge random --out runs/processed
}

longjudgebench_baselines() {
  git checkout 02538a24
  python -m scripts.longjudgebench_tables baselines --path "$LONGJUDGEBENCH"
}

audits() { # DATA/medical_medrbench and the folders of echr, f1000rd and elife
  judge-r1 build medrbench path="$DATA/medical_medrbench" --out runs/medical/pairs
  judge-r1 validate runs/medical/pairs
  judge-r1 audit shortcuts runs/medical/pairs --language-model none
}

english_pairs() { # the pairs of README's jobs
  judge-r1 build builtin kinds=single --out runs/english/pairs
  judge-r1 audit shortcuts runs/english/pairs --language-model none
  judge-r1 eval --judge longer --path runs/english/pairs --out runs/english/eval
}

full_build() { # 20 minutes
  python -m scripts.bench.full_build --data "$DATA" --out runs/full-build
}

pair_readings() {
  for file in docs/experiments/pair_readings/*.csv; do judge-r1 agreement "$file"; done
}

teacher_builds() { # 9 minutes
  git checkout e4bea494
  python -m scripts.bench.build real --data "$DATA" --out runs/bench
  python -m scripts.bench.build overhead --data "$DATA"
  python -m scripts.bench.build memory --plot docs/img/build_memory.svg
}

teacher_faults() {
  python -m pytest tests/data_builders/test_teacher_faults.py
}

intervals() {
  pytest -s -m slow tests/judge_r1/statistics/test_interval_coverage.py
  git checkout e4bea494
  python -m scripts.bench.selective
}

sentences() { # the row of retrieval.passages; needs JUDGE_R1_REAL_DATA
  pytest tests/data_builders/test_sentence_gold.py
}

endurance() {
  python -m scripts.bench.soak --faults-s 2 --seed 2 --searches 12000000 --minutes 14 --out runs/soak
}

speed() {
  python -m scripts.bench.case_search
  git checkout e4bea494
  for name in search_turn index_size gatherer loop_overhead reward throughput; do python -m scripts.bench.$name; done
  python -m scripts.bench.eval harness --items 5000
  python -m scripts.bench.eval batches --items 32
  python -m scripts.bench.decoding --tokens 20 --repeats 2
}

local_engines() {
  python -m venv llama && llama/bin/pip install xllamacpp==2026.10.11549
  python -m scripts.bench.engines --llama llama/bin/python
  python -m scripts.bench.engines --llama llama/bin/python --prompts 8 --alike 8 --tokens 64 --repeats 3 \
    --engines judge_r1 "llama.cpp, Q8_0"
  python -m scripts.bench.half_weights agentic@runs/demo/grpo/model runs/demo/data/test runs/english/pairs
  python -m scripts.bench.compile_step
}

cpu_training() {
  git checkout e4bea494
  judge-r1 build builtin --max-steps 3 --variants 2 --limit 6 --out runs/english/small
  python -m scripts.bench.cpu_training --data runs/english/small --rows 1 --group 3 --repeats 3 --traces 12
  python -c "from pathlib import Path; from data_builders.haystack_splits import build_splits; build_splits(Path('runs/haystack/data'))"
  python -m scripts.bench.cpu_training --recipe haystack/warmup-fc-search --data runs/haystack/data/train --rows 8 --set lora.rank=8 lora.alpha=16
}

grpo_step() {
  python -m scripts.bench.grpo_step
}

revisions() {
  python -m scripts.bench.compare 8ccd0052
}

evaluation_memory() {
  python -m scripts.bench.eval_memory --episodes 1000 20000 100000
  python -m scripts.bench.eval_memory --episodes 300000 1000000
}

serving_speed() {
  judge-r1 demo --source mini --out runs/mini
  python -m scripts.bench.serve load --clients 200 --requests 2000 --rounds 2
  git checkout e4bea494
  python -m scripts.bench.serve_endpoint
  python -m scripts.bench.serve batches --judge agentic@runs/mini/grpo/model --path runs/mini/data/test --pairs 32 --repeat 2
}

reward_schedules() {
  git checkout e4bea494
  python -m scripts.bench.rewards agreement --scores "$SCORES"
  python -m scripts.bench.rewards speed
}

h100() {
  python scripts/gpu_check.py --out runs/gpu-check
}

"$@"; exit # bash has read the whole file before a function checks out another commit
