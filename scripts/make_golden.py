"""Writes the golden consultations that guard the instrument: 12 interviews, word for word.

python scripts/make_golden.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
GOLDEN = ROOT / "tests" / "data" / "golden.json"

CHOSEN = (
    ("card-001", {}),
    ("gast-001", {"memory_recall": 4}),
    ("neur-001", {"health_literacy": 3}),
    ("endo-001", {"emotional_state": 4}),
    ("neph-002", {"communication_style": 4}),
    ("infe-001", {"social_cultural": 4}),
    ("rheu-002", {"cognitive_processing": 4}),
    ("paed-001", {"emotional_state": 3}),
    ("gyna-002", {"social_cultural": 3, "memory_recall": 2}),
    ("derm-001", {"communication_style": 2, "health_literacy": 2}),
    ("pulm-002", {"cognitive_processing": 2, "emotional_state": 1}),
    ("psyc-001", {"memory_recall": 1, "social_cultural": 2}),
)


def golden() -> str:
    from interviews import hold

    from verisim_tasks.cases.bank import find_case
    from verisim_tasks.patient.base import PatientSetting
    from verisim_tasks.patient.scripted import ScriptedPatient
    from verisim_tasks.records.noise import NoiseProfile

    settings = [PatientSetting(find_case(case), NoiseProfile(noise)) for case, noise in CHOSEN]
    rows = [
        {
            "case": setting.case.id,
            "noise": dict(setting.noise),
            "turns": [[t.speaker, t.text, [d.fact_id for d in t.disclosed], list(t.withheld)] for t in turns],
        }
        for setting, turns in hold(ScriptedPatient(), settings)
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    if parser.parse_args().check:
        return 0 if GOLDEN.read_text(encoding="utf-8") == golden() else 1
    GOLDEN.write_text(golden(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
