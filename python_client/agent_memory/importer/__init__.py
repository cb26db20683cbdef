"""Imports conversations and memories from files and databases of other programs; docs/importing.md says which.

``import_file`` finds out what a file is: each module but the first three reads one format. A record that cannot be
read is named with its place. What a format does not know (whose the messages are, for one) the caller says.
"""

from .importing import ImportProgress, import_file
from .records import ImportFileError

__all__ = ["ImportFileError", "ImportProgress", "import_file"]
