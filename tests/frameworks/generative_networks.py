# SPDX-License-Identifier: Apache-2.0
"""A small decoder for the backend generative, with fixed random weights, so that no download is needed.

Two layers with attention and states, as optimum exports them, and a tokenizer of single bytes and a few
longer texts. Its tokens mean nothing, but they depend on everything that came before.

As a program, it writes the files, for experiments:

    python -m frameworks.generative_networks FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from frameworks.openvino_networks import import_openvino  # noqa: E402

HEADS = 2
HEAD_SIZE = 32
WIDTH = HEADS * HEAD_SIZE
LAYERS = 2
CONTEXT = 8192
# Token 0 ends a text, 1 to 256 are bytes, then come longer ones.
END = 0
TEXTS = [b"", *(bytes([value]) for value in range(256))]
TEXTS += [text.encode() for text in ("ab", "the ", "éa", " 🦜")]
VOCABULARY = len(TEXTS)


class Decoder:
    """Builds the graph of the network."""

    def __init__(self, seed: int) -> None:
        self.runtime = import_openvino()
        from openvino import opset13

        self.ops = opset13
        self._random = np.random.default_rng(seed)

    def weight(self, *shape: int, scale: float = 1.0) -> Any:
        values = self._random.standard_normal(shape) * scale / shape[0] ** 0.5
        return self.ops.constant(values.astype(np.float32))

    def table(self, rows: int, scale: float) -> Any:
        values = self._random.standard_normal((rows, WIDTH)) * scale
        return self.ops.constant(values.astype(np.float32))

    def ints(self, *values: int) -> Any:
        return self.ops.constant(np.array(values, np.int64))

    def heads_of(self, value: Any) -> Any:
        split = self.ops.reshape(value, self.ints(0, 0, HEADS, HEAD_SIZE), special_zero=True)
        return self.ops.transpose(split, self.ints(0, 2, 1, 3))

    def remembered(self, name: str, value: Any, batch: Any, beam: Any) -> tuple[Any, Any]:
        """The state followed by `value`, and what keeps it."""
        from openvino.op.util import Variable, VariableInfo

        ops, ov = self.ops, self.runtime
        info = VariableInfo()
        info.data_shape = ov.PartialShape([-1, HEADS, -1, HEAD_SIZE])
        info.data_type = ov.Type.f32
        info.variable_id = name
        variable = Variable(info)
        shape = ops.concat([batch, self.ints(HEADS, 0, HEAD_SIZE)], 0)
        empty = ops.broadcast(ops.constant(np.float32(0)), shape)
        past = ops.read_value(empty, variable)
        chosen = ops.gather(past, beam, ops.constant(np.int64(0)))
        whole = ops.concat([chosen, value], 2)
        return whole, ops.assign(whole, variable)

    def attention(
        self, layer: int, hidden: Any, mask: Any, batch: Any, beam: Any
    ) -> tuple[Any, list[Any]]:
        ops = self.ops
        query, key, value = (
            self.heads_of(ops.matmul(hidden, self.weight(WIDTH, WIDTH, scale=1.5), False, False))
            for _ in range(3)
        )
        keys, keep_keys = self.remembered(f"past_key_values.{layer}.key", key, batch, beam)
        values, keep_values = self.remembered(f"past_key_values.{layer}.value", value, batch, beam)
        attended = ops.scaled_dot_product_attention(query, keys, values, mask, causal=False)
        joined = ops.reshape(
            ops.transpose(attended, self.ints(0, 2, 1, 3)), self.ints(0, 0, WIDTH), special_zero=True
        )
        return ops.matmul(joined, self.weight(WIDTH, WIDTH), False, False), [keep_keys, keep_values]

    def build(self) -> Any:
        ops, ov = self.ops, self.runtime
        inputs = {
            "input_ids": ops.parameter([-1, -1], ov.Type.i64),
            "attention_mask": ops.parameter([-1, -1], ov.Type.i64),
            "position_ids": ops.parameter([-1, -1], ov.Type.i64),
            "beam_idx": ops.parameter([-1], ov.Type.i32),
        }
        for name, one in inputs.items():
            one.set_friendly_name(name)
            one.output(0).set_names({name})
        ids, attention_mask, positions, beam = inputs.values()
        zero = ops.constant(np.int64(0))
        batch = ops.gather(ops.shape_of(ids, "i64"), self.ints(0), zero)
        words = ops.gather(self.table(VOCABULARY, 1.0), ids, zero)
        hidden = ops.add(words, ops.gather(self.table(CONTEXT, 0.5), positions, zero))
        mask = self.mask(ids, attention_mask)
        kept = []
        for layer in range(LAYERS):
            attended, states = self.attention(layer, self.norm(hidden), mask, batch, beam)
            hidden = ops.add(hidden, attended)
            inner = ops.gelu(
                ops.matmul(self.norm(hidden), self.weight(WIDTH, 2 * WIDTH), False, False), "erf"
            )
            hidden = ops.add(hidden, ops.matmul(inner, self.weight(2 * WIDTH, WIDTH), False, False))
            kept += states
        logits = ops.matmul(
            self.norm(hidden), self.weight(WIDTH, VOCABULARY, scale=3.0), False, False
        )
        logits.output(0).set_names({"logits"})
        result = ops.result(logits)
        return ov.Model([result], kept, list(inputs.values()), "small_decoder")

    def norm(self, hidden: Any) -> Any:
        return self.ops.mvn(hidden, self.ints(-1), True, 1e-5, "inside_sqrt")

    def mask(self, ids: Any, attention_mask: Any) -> Any:
        """0 where a token may look, a large negative number elsewhere: [1, 1, tokens, all]."""
        ops = self.ops
        zero = ops.constant(np.int64(0))
        tokens = ops.gather(ops.shape_of(ids, "i64"), ops.constant(np.int64(1)), zero)
        whole = ops.gather(ops.shape_of(attention_mask, "i64"), ops.constant(np.int64(1)), zero)
        one = ops.constant(np.int64(1))
        columns = ops.unsqueeze(ops.range(zero, whole, one, "i64"), zero)
        rows = ops.unsqueeze(ops.range(ops.subtract(whole, tokens), whole, one, "i64"), one)
        allowed = ops.less_equal(columns, rows)
        mask = ops.select(allowed, ops.constant(np.float32(0)), ops.constant(np.float32(-1e9)))
        return ops.unsqueeze(mask, self.ints(0, 1))


def tokens_of(text: str) -> list[int]:
    """As the tokenizer makes them: the longest one that fits, and the next."""
    left, tokens = text.encode(), []
    while left:
        fitting = [token for token, text in enumerate(TEXTS) if text and left.startswith(text)]
        longest = max(fitting, key=lambda token: len(TEXTS[token]))
        tokens.append(longest)
        left = left.removeprefix(TEXTS[longest])
    return tokens


def text_of(tokens: Iterable[int]) -> str:
    return b"".join(TEXTS[token] for token in tokens).decode(errors="replace")


def save_tokenizer(folder: Path) -> None:
    ov = import_openvino()
    from openvino_tokenizers.build_tokenizer import build_rwkv_tokenizer

    def literal(text: bytes) -> str:
        try:
            return repr(text.decode())
        except UnicodeDecodeError:
            return repr(text)

    # Lines as in RWKV's files: token, text as Python writes it, number of bytes.
    lines = [f"{index} {literal(text)} {len(text)}" for index, text in enumerate(TEXTS) if text]
    tokenizer, detokenizer = build_rwkv_tokenizer(lines)
    ov.save_model(tokenizer, folder / "openvino_tokenizer.xml")
    ov.save_model(detokenizer, folder / "openvino_detokenizer.xml")


def save(folder: Path, *, seed: int = 7, tokenizer: bool = False) -> None:
    """Writes the files of one version into `folder`."""
    ov = import_openvino()
    folder.mkdir(parents=True, exist_ok=True)
    ov.save_model(Decoder(seed).build(), folder / "openvino_model.xml", compress_to_fp16=False)
    config = {"model_type": "small", "max_position_embeddings": CONTEXT, "eos_token_id": END}
    (folder / "config.json").write_text(json.dumps(config))
    if tokenizer:
        save_tokenizer(folder)


if __name__ == "__main__":
    save(Path(sys.argv[1]), tokenizer=True)
