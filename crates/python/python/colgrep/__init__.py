"""Ranked code search: open a project, search it, ask its history.

>>> import colgrep
>>> project = colgrep.open(".")
>>> for file in project.search("parse request", k=3):
...     print(file.path, file.best.best_line, file.best.best_line_text)

Everything runs in this process: there is no server, no account and no download. An index is kept in the same place as
that of the command ``colgrep``, so both use one.
"""

from ._colgrep import __version__
from .errors import ColgrepError, GitError, IndexUnavailableError, ModelError, RequestError
from .project import Project, search
from .project import open as open
from .results import Answer, Entry, File, History, Status, Step, Unit, Update

__all__ = [
    "Answer",
    "ColgrepError",
    "Entry",
    "File",
    "GitError",
    "History",
    "IndexUnavailableError",
    "ModelError",
    "Project",
    "RequestError",
    "Status",
    "Step",
    "Unit",
    "Update",
    "__version__",
    "search",
]
