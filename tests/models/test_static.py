from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from worldthread.errors import DamagedModelError, MissingExtraError
from worldthread.models import static
from worldthread.models.static import WordLlamaEmbedder

TEXTS = [
    "key",
    "The key is in the white locker.",
    "Café Straße 北京 🗝️",
    "  spaces   inside and around  ",
    "a longer text about rooms and doors, " * 40,
]


def test_a_missing_package_is_told_with_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[static\]'?") as caught:
        WordLlamaEmbedder().embed(["key"])
    assert (caught.value.extra, caught.value.package) == ("static", "wordllama")


@pytest.mark.static
def test_vectors_are_those_of_the_package_itself() -> None:
    """Run apart, since importing the package sets up the root logger."""
    program = (
        "import pathlib, sys, numpy, wordllama\n"
        "folder = pathlib.Path(wordllama.__file__).parent\n"
        "model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)\n"
        "sys.stdout.buffer.write(model.embed(sys.argv[1:], norm=True).astype('<f4').tobytes())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *TEXTS], capture_output=True, check=True)
    theirs = np.frombuffer(done.stdout, dtype="<f4").reshape(len(TEXTS), -1)
    np.testing.assert_allclose(WordLlamaEmbedder().embed(TEXTS), theirs, atol=1e-6)


@pytest.mark.static
def test_the_package_is_read_and_not_imported() -> None:
    program = (
        "import logging, sys\n"
        "from worldthread.models import embedder\n"
        "embedder('wordllama').embed(['key'])\n"
        "assert 'wordllama' not in sys.modules and 'requests' not in sys.modules\n"
        "assert not logging.getLogger().handlers\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.static
@pytest.mark.parametrize("damaged", [static.WEIGHTS_FILE, static.TOKENIZER_FILE])
def test_damaged_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str) -> None:
    package = tmp_path / "wordllama"
    installed = static._package_folder()
    for name in (static.WEIGHTS_FILE, static.TOKENIZER_FILE):
        copy = package / name
        copy.parent.mkdir(parents=True)
        data = bytearray((installed / name).read_bytes())
        if name == damaged:
            data[-1] ^= 1
        copy.write_bytes(data)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DamagedModelError, match=Path(damaged).name):
        WordLlamaEmbedder().embed(["key"])
