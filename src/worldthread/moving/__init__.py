"""Moving in and out: files of other programs become part of a memory, and statements go to tools for graphs and tables.

``Memory.export`` and ``Memory.import_`` copy a memory as it is; what is here translates.
"""

from worldthread.moving.exporting import EXPORT_FORMATS, export_statements, to_networkx, to_pandas
from worldthread.moving.importing import FORMATS, DumpContents, DumpImport, import_dump, read_dump

__all__ = [
    "EXPORT_FORMATS",
    "FORMATS",
    "DumpContents",
    "DumpImport",
    "export_statements",
    "import_dump",
    "read_dump",
    "to_networkx",
    "to_pandas",
]
