"""A BERT of two narrow layers with fixed random weights: small enough to build and run in every test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.core.calibration import Calibration
from clew.models.packs.bert import Weights, write_int8_encoder
from clew.models.packs.calibrate import calibration_texts
from clew.models.packs.pack import (
    MODEL_FILE,
    TOKENIZER_FILE,
    Manifest,
    Pack,
    describe_file,
    load_pack,
    write_manifest,
)

WIDTH, HEADS, LAYERS, POSITIONS = 32, 4, 2, 64


def tiny_words() -> list[str]:
    texts = calibration_texts()
    everything = " ".join([*texts.unrelated, *(side for pair in texts.same_meaning for side in pair)])
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(re.findall(r"\w+", everything.lower())))]


def tiny_weights() -> Weights:
    chance = np.random.default_rng(7)

    def draw(*shape: int, scale: float = 0.15) -> NDArray[np.float32]:
        return (chance.standard_normal(shape) * scale).astype(np.float32)

    named = {
        "embeddings.word_embeddings.weight": draw(len(tiny_words()), WIDTH, scale=1.0),
        "embeddings.token_type_embeddings.weight": draw(2, WIDTH),
        "embeddings.position_embeddings.weight": draw(POSITIONS, WIDTH),
        "embeddings.LayerNorm.weight": 1 + draw(WIDTH),
        "embeddings.LayerNorm.bias": draw(WIDTH),
    }
    layers = []
    for number in range(LAYERS):
        name = f"encoder.layer.{number}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value"):
            named[f"{name}.{part}.bias"] = draw(WIDTH)
        for part in ("attention.output", "output"):
            named[f"{name}.{part}.dense.bias"] = draw(WIDTH)
            named[f"{name}.{part}.LayerNorm.weight"] = 1 + draw(WIDTH)
            named[f"{name}.{part}.LayerNorm.bias"] = draw(WIDTH)
        named[f"{name}.intermediate.dense.bias"] = draw(4 * WIDTH)
        squares = [draw(WIDTH, WIDTH) for _ in range(4)]
        layers.append([*squares, draw(WIDTH, 4 * WIDTH), draw(4 * WIDTH, WIDTH)])
    return Weights(named=named, layers=layers)


def write_tiny_model(folder: Path) -> None:
    """The two model files, without a description."""
    from tokenizers import BertWordPieceTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    write_int8_encoder(tiny_weights(), HEADS, folder / MODEL_FILE)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(tiny_words()), "utf-8")
    BertWordPieceTokenizer(str(vocabulary), lowercase=True).save(str(folder / TOKENIZER_FILE))
    vocabulary.unlink()


def tiny_manifest(folder: Path, **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "family": "tiny",
        "dimensions": WIDTH,
        "pooling": "mean",
        "query_prefix": "",
        "passage_prefix": "",
        "max_tokens": POSITIONS,
        "calibration": Calibration(unrelated=0.1, same_meaning=0.8),
        "files": (describe_file(folder / MODEL_FILE), describe_file(folder / TOKENIZER_FILE)),
        "licence": "CC0-1.0",
        "sources": ("random numbers",),
    }
    return Manifest(**(values | changes))


def write_tiny_pack(folder: Path, **changes: Any) -> Pack:
    write_tiny_model(folder)
    write_manifest(folder, tiny_manifest(folder, **changes))
    return load_pack(folder)
