"""One judge for every judged score: a rubric, data in fences, a reply that is read strictly."""

from verisim_metrics.judging.judge import Judge
from verisim_metrics.judging.records import (
    Answer,
    Cost,
    CountTokens,
    Failure,
    Generate,
    Judgement,
    JudgePrompt,
    Question,
    Settings,
    Vote,
    total_cost,
)
from verisim_metrics.judging.rubric import Point, Rubric, Scale, load_rubric, parse_rubric, rubric_names, rubrics_digest

__all__ = [
    "Answer",
    "Cost",
    "CountTokens",
    "Failure",
    "Generate",
    "Judge",
    "JudgePrompt",
    "Judgement",
    "Point",
    "Question",
    "Rubric",
    "Scale",
    "Settings",
    "Vote",
    "load_rubric",
    "parse_rubric",
    "rubric_names",
    "rubrics_digest",
    "total_cost",
]
