"""Cases in the formats people already have, made into case files with an account of every sentence."""

from verisim_tasks.cases.importers.registry import FORMATS, Outcome, import_file, import_rows
from verisim_tasks.cases.importers.report import Account, Imported, Trace

__all__ = ["FORMATS", "Account", "Imported", "Outcome", "Trace", "import_file", "import_rows"]
