"""Make ``task_configs/*.yaml``: one file for each task and each group of the noise variants.

python scripts/make_task_configs.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from _stored import keep

from verisim_tasks.tasks.mvme import COLLABORATION, MVME, ONESTEP
from verisim_tasks.tasks.patientsim import NAME as PATIENTSIM
from verisim_tasks.tasks.scores import GROUP_METRICS, NOISY_GROUP_METRICS
from verisim_tasks.tasks.variants import CLEAN, GROUPS, MIXED, VARIANTS, Variant, level_tag

TARGET = Path(__file__).resolve().parent.parent / "task_configs"
VERSION = "1.0"
CLASS = "verisim_tasks.tasks.consultation.ConsultationTask"
PATIENTSIM_CLASS = "verisim_tasks.tasks.patientsim.PatientSimTask"
MVME_CLASSES = {MVME: "MvmeTask", ONESTEP: "OnestepTask", COLLABORATION: "CollaborationTask"}
HEADER = "# Made by scripts/make_task_configs.py; do not edit by hand.\n"


def task_text(variant: Variant) -> str:
    lines = [f"task: {variant.task}", f"class: !function {CLASS}", f"variant: {variant.name}"]
    if variant.noise is None:
        lines.append(f"noise: {MIXED}")
    else:
        lines.append("noise: {" + ", ".join(f"{d}: {level}" for d, level in variant.noise.items()) + "}")
        lines += [f"tag: {level_tag(level)}" for level in variant.noise.values()]
    return HEADER + "\n".join([*lines, "metadata:", f"  version: {VERSION}"]) + "\n"


def group_text(name: str) -> str:
    metrics = list(GROUP_METRICS)
    if not reaches(name, CLEAN.task):
        metrics += NOISY_GROUP_METRICS
    lines = [f"group: {name}", "task:", *(f"  - {member}" for member in GROUPS[name]), "aggregate_metric_list:"]
    for metric, by_size in metrics:
        lines += [f"  - metric: {metric}", "    aggregation: mean", f"    weight_by_size: {str(by_size).lower()}"]
    return HEADER + "\n".join([*lines, "metadata:", f"  version: {VERSION}"]) + "\n"


def reaches(group: str, task: str) -> bool:
    return any(m == task or (m in GROUPS and reaches(m, task)) for m in GROUPS[group])


def patientsim_text() -> str:
    """Here the model under test plays the patient; in no group, since no score is shared with the others."""
    lines = [f"task: {PATIENTSIM}", f"class: !function {PATIENTSIM_CLASS}", "variant: patientsim", "noise: {}"]
    return HEADER + "\n".join([*lines, "metadata:", f"  version: {VERSION}"]) + "\n"


def mvme_text(name: str) -> str:
    """AI Hospital's tasks; in no group, since what they measure is not a noise variant."""
    lines = [f"task: {name}", f"class: !function verisim_tasks.tasks.mvme.{MVME_CLASSES[name]}"]
    lines += [f"variant: {name.removeprefix('verisim_')}", "noise: {}"]
    return HEADER + "\n".join([*lines, "metadata:", f"  version: {VERSION}"]) + "\n"


def wanted() -> dict[str, str]:
    texts = {f"{v.task}.yaml": task_text(v) for v in VARIANTS}
    texts[f"{PATIENTSIM}.yaml"] = patientsim_text()
    texts.update({f"{name}.yaml": mvme_text(name) for name in MVME_CLASSES})
    texts.update({f"{name}_group.yaml": group_text(name) for name in GROUPS})
    return texts


if __name__ == "__main__":
    sys.exit(keep(lambda: {TARGET / name: text for name, text in wanted().items()}, __doc__))
