"""Reading in bulk: texts are read and embedded by other processes, and recorded in order by one.

>>> from worldthread.memory.bulk import RayReaders               # doctest: +SKIP
>>> with RayReaders() as readers:                         # doctest: +SKIP
...     memory.remember_many(documents, readers=readers)  # doctest: +SKIP
"""

from __future__ import annotations

from worldthread.memory.bulk.ray_readers import RayReaders
from worldthread.memory.bulk.readers import BatchReaders, BatchReading, ReadEpisode, ReadFailure

__all__ = ["BatchReaders", "BatchReading", "RayReaders", "ReadEpisode", "ReadFailure"]
