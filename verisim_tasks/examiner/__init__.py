"""The examiner: ordered vital signs, physical findings and test results, verbatim from the case."""

from verisim_tasks.examiner.examiner import AbsentTests, Examiner, ExaminerReply, ExaminerResult

__all__ = ["AbsentTests", "Examiner", "ExaminerReply", "ExaminerResult"]
