"""PatientSim scores (arXiv 2505.17818) of saved transcripts: truth, plausibility, coverage, consistency, personas."""

from verisim_metrics.patientsim.personas import Persona, all_personas, find_persona
from verisim_metrics.patientsim.profile import Item, items_of
from verisim_metrics.patientsim.recipe import Score, Tally
from verisim_metrics.patientsim.scores import PatientReport, TranscriptScores, iter_scores, pool, score_patient
from verisim_metrics.patientsim.truth import Instruments, PlausibilityJudge, SimilarityJudge, Truth
from verisim_metrics.patientsim.types import SentenceType, sentence_types

__all__ = [
    "Instruments",
    "Item",
    "PatientReport",
    "Persona",
    "PlausibilityJudge",
    "Score",
    "SentenceType",
    "SimilarityJudge",
    "Tally",
    "TranscriptScores",
    "Truth",
    "all_personas",
    "find_persona",
    "items_of",
    "iter_scores",
    "pool",
    "score_patient",
    "sentence_types",
]
