"""Writes a trained reader as the package reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from base import WIDTH
from network import Reader
from onnx import numpy_helper
from torch import Tensor, nn

from worldthread.answering.pointing import LOWER_LAYERS

LARGE: Final = 10_000
"""Weights of a table from which on it is stored in eight bits."""


class _Words(nn.Module):
    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, tokens: Tensor, types: Tensor, pool: Tensor, case: Tensor, segment: Tensor) -> tuple[Tensor, ...]:
        words, whole = self.reader.words(tokens, torch.ones_like(tokens), types, pool[None], case[None], segment[None])
        outcome, judgement = (torch.softmax(head(whole[0]), 0) for head in (self.reader.ending, self.reader.judge))
        return words[0], torch.sigmoid(self.reader.begins(words)[0, :, 0]), outcome, judgement


class _Events(nn.Module):
    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, words: Tensor, begin: Tensor, sentence: Tensor, matches: Tensor) -> tuple[Tensor, ...]:
        rows = torch.zeros_like(begin)
        ends, end = self.reader.ends(words[None], rows, begin, sentence[None]).exp().max(1)
        known = torch.ones_like(sentence, dtype=torch.bool)[None]
        return (
            end,
            ends,
            *(part.exp() for part in self.reader.frames(words[None], known, matches[None], rows, begin, end)),
        )


def with_small_weights(path: Path) -> None:
    """Store the large weights of an ONNX file in eight bits, one scale a column or, of a table, a row.

    The arithmetic stays that of float32, so that a reading does not depend on what the processor does with eight bits.
    """
    model = onnx.load(str(path))
    graph = model.graph
    tables = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    nodes, kept = [], []
    for weights in graph.initializer:
        values = numpy_helper.to_array(weights)
        if values.ndim != 2 or values.size < LARGE or values.dtype != np.float32:
            kept.append(weights)
            continue
        axis = 0 if weights.name in tables else 1
        scale = np.maximum(np.abs(values).max(1 - axis), 1e-12).astype(np.float32) / 127
        small = np.round(values / np.expand_dims(scale, 1 - axis)).astype(np.int8)
        parts = [f"{weights.name}_int8", f"{weights.name}_scale"]
        kept += [numpy_helper.from_array(array, name) for name, array in zip(parts, (small, scale), strict=True)]
        nodes.append(onnx.helper.make_node("DequantizeLinear", parts, [weights.name], axis=axis))
    del graph.initializer[:]
    graph.initializer.extend(kept)
    rest = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *rest])
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def with_lower_states(path: Path) -> None:
    """Add an output to the file of the words: what the lower layers say, on which answers are found.

    Args:
        path: the file.
    """
    model = onnx.load(str(path))
    name = f"layer.{LOWER_LAYERS}/attention/self/query/MatMul"
    above = next(node for node in model.graph.node if node.name.endswith(name))
    model.graph.node.append(onnx.helper.make_node("Identity", [above.input[0]], ["lower"]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("lower", onnx.TensorProto.FLOAT, [1, "tokens", WIDTH]))
    onnx.save(model, str(path))


def weights_of(folder: Path) -> tuple[dict[str, Tensor], list[str]]:
    """Return the weights of a reader that :func:`write` wrote, as near as eight bits are, and its relations.

    Args:
        folder: what was written.
    """
    state: dict[str, Tensor] = {}
    for name in ("words", "events"):
        graph = onnx.load(str(folder / f"{name}.onnx")).graph
        arrays = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
        for node in graph.node:
            if node.op_type == "DequantizeLinear":
                axis = next(one.i for one in node.attribute if one.name == "axis")
                small, scale = (arrays.pop(part) for part in node.input)
                arrays[node.output[0]] = small.astype(np.float32) * np.expand_dims(scale, 1 - axis)
        state |= {
            key.removeprefix("reader."): torch.tensor(a) for key, a in arrays.items() if key.startswith("reader.")
        }
        inward: list[Tensor] = []  # the three matrices, and vectors, of the attention are stored as one
        for node in graph.node:
            given = next((arrays[one] for one in node.input if one in arrays and one.startswith("onnx::")), None)
            if node.op_type == "MatMul" and given is not None:
                parts = node.name.strip("/").replace("/", ".").split(".")[:-1]
                if parts == ["attend"]:
                    inward.append(torch.tensor(given.T.copy()))
                    continue
                repeated = len(parts) > 2 and parts[0] == parts[1] != "encoder"  # "ending.ending.0"
                state[".".join(parts[repeated:]) + ".weight"] = torch.tensor(given.T.copy())
            elif node.op_type == "Add" and given is not None:
                inward.append(torch.tensor(given))
            elif node.op_type == "Mul" and given is not None and given.size == 2:
                state["match_scale"] = torch.tensor(given.reshape(2))
        if inward:
            state["attend.in_proj_weight"] = torch.cat([one for one in inward if one.ndim == 2])
            state["attend.in_proj_bias"] = torch.cat([one for one in inward if one.ndim == 1])
    return state, json.loads((folder / "relations.json").read_text(encoding="utf-8"))


def write(folder: Path, reader: Reader, relations: Sequence[str]) -> None:
    """Write what :class:`worldthread.extract.reader.model.ReaderModel` reads.

    Args:
        folder: the folder; it is made.
        reader: the trained reader.
        relations: the relations in the order of their scores.
    """
    reader.eval()
    folder.mkdir(parents=True, exist_ok=True)
    tokens = torch.tensor([[101, 2026, 3899, 2003, 102]])
    pool, words = torch.eye(5)[1:4], torch.zeros(3, WIDTH)
    case = segment = torch.ones(3, dtype=torch.long)
    pooled = {"tokens": tokens, "types": torch.ones_like(tokens), "pool": pool, "case": case, "segment": segment}
    chosen = {"words": words, "begin": torch.tensor([1, 2]), "sentence": segment}
    chosen["matches"] = torch.zeros(2, 3, len(relations))
    axes = {"tokens": {1: "tokens"}, "types": {1: "tokens"}, "pool": {0: "words", 1: "tokens"}, "case": {0: "words"}}
    axes |= {"segment": {0: "words"}, "sentence": {0: "words"}, "words": {0: "words"}, "begin": {0: "events"}}
    axes["matches"] = {1: "words"}
    for name, module, feeds in (("words", _Words(reader), pooled), ("events", _Events(reader), chosen)):
        path = folder / f"{name}.onnx"
        torch.onnx.export(
            module, tuple(feeds.values()), str(path), input_names=list(feeds), opset_version=17, dynamo=False,
            dynamic_axes={key: axes[key] for key in feeds},
        )  # fmt: skip
        with_small_weights(path)
    with_lower_states(folder / "words.onnx")
    if not (folder / "confidence.json").exists():  # until it is learned: the product of the parts
        learned = {"weights": [1.0] * 8 + [0.0] * 10, "bias": 0.0}
        (folder / "confidence.json").write_text(json.dumps(learned), encoding="utf-8")
    (folder / "relations.json").write_text(json.dumps(list(relations), indent=0), encoding="utf-8")
