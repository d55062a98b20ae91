"""Writes texts to a system for ever, and prints each one that was acknowledged, until it is killed.

The check of durability starts ``python -m worldthread_lab.bench.adversarial.writer SYSTEM FOLDER NUMBER``.
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

from worldthread_lab.bench.adversarial.systems import SYSTEMS


def main(name: str, folder: str, number: str) -> None:
    """Write until the process is killed.

    Args:
        name: the system.
        folder: where its files lie.
        number: told in the texts, so that those of several writers differ.
    """
    acknowledged = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # systems print too, and what is read here counts as acknowledged
    system = SYSTEMS[name](Path(folder))
    for count in itertools.count():
        text = f"Writer {number} wrote text {count}."
        system.write("anna", text, float(count))
        print(text, file=acknowledged, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
