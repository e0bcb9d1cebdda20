"""A sequence-to-sequence model from a folder, run on this machine: what it writes, and what stops it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clew.core.ports import Abstract
from clew.errors import InvalidInput, NotFound, SummarizerFailed, TooLarge
from clew.models.guard import GuardedSummarizer
from clew.models.summarizing.folder import DECODER_FILE, ENCODER_FILE, TOKENIZER_FILE, read_folder
from clew.models.summarizing.onnx import OnnxSummarizer

pytest.importorskip("onnxruntime", reason="the `onnx` extra is not installed")
pytestmark = pytest.mark.requirement("COMP-6")

WORDS = [
    "<pad>",
    "<s>",
    "</s>",
    "<unk>",
    ".",
    "summarize",
    ":",
    *"ana moved to oslo in may and likes tea there".split(),
]
PAD, START, END, UNKNOWN = range(4)
WIDTH, POSITIONS = 8, 24
SETTINGS = {"decoder_start_token_id": START, "eos_token_id": END, "max_position_embeddings": POSITIONS}
UNLIKELY = -30.0


def random_weights() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The encoder's embeddings, the scores of each next token, and the scores that the text gives each token."""
    chance = np.random.default_rng(11)
    size = len(WORDS)
    shapes = ((size, WIDTH), (size, size), (WIDTH, size))
    first, second, third = ((chance.standard_normal(shape) * 2).astype(np.float32) for shape in shapes)
    return first, second, third


def chain(*words: str) -> NDArray[np.float32]:
    """Scores by which these words follow each other, whatever the model reads."""
    table = np.full((len(WORDS), len(WORDS)), UNLIKELY, np.float32)
    for before, after in pairwise(words):
        table[WORDS.index(before), WORDS.index(after)] = 30.0
    return table


def write_model(folder: Path, following: NDArray[np.float32] | None = None, **changes: Any) -> Path:
    """A model with random weights, or one that writes after the scores in `following`."""
    from onnx import TensorProto

    read, random_following, mix = random_weights()
    if following is None:
        following = random_following
    else:
        mix = np.zeros_like(mix)
    folder.mkdir(parents=True)
    mask = ("Unsqueeze", ["mask.float", "last"], "mask.wide", {})
    last = {"last": np.array([2], np.int64)}
    save_graph(
        folder / ENCODER_FILE,
        [
            ("Gather", ["words", "input_ids"], "vectors", {}),
            ("Cast", ["attention_mask"], "mask.float", {"to": TensorProto.FLOAT}),
            mask,
            ("Mul", ["vectors", "mask.wide"], "last_hidden_state", {}),
        ],
        {"words": read} | last,
        {"input_ids": TensorProto.INT64, "attention_mask": TensorProto.INT64},
        "last_hidden_state",
    )
    save_graph(
        folder / DECODER_FILE,
        [
            ("Cast", ["encoder_attention_mask"], "mask.float", {"to": TensorProto.FLOAT}),
            mask,
            ("Mul", ["encoder_hidden_states", "mask.wide"], "masked", {}),
            ("ReduceMean", ["masked"], "context", {"axes": [1], "keepdims": 1}),
            ("MatMul", ["context", "mix"], "said", {}),
            ("Gather", ["following", "input_ids"], "next", {}),
            ("Add", ["next", "said"], "logits", {}),
        ],
        {"mix": mix, "following": following} | last,
        {
            "input_ids": TensorProto.INT64,
            "encoder_hidden_states": TensorProto.FLOAT,
            "encoder_attention_mask": TensorProto.INT64,
        },
        "logits",
    )
    write_tokenizer(folder / TOKENIZER_FILE)
    (folder / "config.json").write_text(json.dumps(SETTINGS | changes))
    return folder


def save_graph(path: Path, nodes: list[Any], weights: dict[str, Any], inputs: dict[str, int], output: str) -> None:
    """Nodes are an operator, its inputs, its output and its attributes."""
    from onnx import TensorProto, helper, numpy_helper, save

    def described(name: str, kind: int) -> Any:
        return helper.make_tensor_value_info(name, kind, [None] * (2 if kind == TensorProto.INT64 else 3))

    graph = helper.make_graph(
        [helper.make_node(operator, given, [made], **extra) for operator, given, made, extra in nodes],
        path.stem,
        [described(name, kind) for name, kind in inputs.items()],
        [described(output, TensorProto.FLOAT)],
        [numpy_helper.from_array(np.asarray(values), name) for name, values in weights.items()],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def write_tokenizer(path: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", END)])
    tokenizer.add_special_tokens(WORDS[:3])
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=5)
    tokenizer.save(str(path))


def open_model(folder: Path, **changes: Any) -> OnnxSummarizer:
    return OnnxSummarizer(read_folder(folder), **({"timeout_ms": 60_000} | changes))


def write(model: OnnxSummarizer, transcript: str = "Ana moved", max_tokens: int = 20) -> Abstract:
    return model.summarise(transcript, earlier="", max_tokens=max_tokens)


@pytest.fixture(scope="module")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> OnnxSummarizer:
    return open_model(write_model(tmp_path_factory.mktemp("models") / "random"))


@pytest.mark.parametrize("transcript", ["Ana moved to Oslo", "tea", "likes tea in may . ana", "nonsense words here"])
def test_the_likeliest_tokens_are_written_with_their_mean_probability(
    random_model: OnnxSummarizer, transcript: str
) -> None:
    read, following, mix = (weights.astype(np.float64) for weights in random_weights())
    ids = [WORDS.index(word) if word in WORDS else UNKNOWN for word in transcript.lower().split()]
    said = read[[*ids, END]].mean(axis=0) @ mix
    token, words, chances = START, [], []
    for _ in range(12):
        scores = following[token] + said
        token = int(scores.argmax())
        chances.append(float(np.exp(scores[token]) / np.exp(scores).sum()))
        if token == END:
            break
        words.append(WORDS[token])
    abstract = write(random_model, transcript, 12)
    shown = " ".join(word for word in words if word not in WORDS[:3])
    assert abstract.text == shown or shown.startswith(abstract.text), "a text that was cut off ends with a sentence"
    assert abstract.confidence == pytest.approx(np.mean(chances), abs=1e-5)
    assert write(random_model, transcript, 12) == abstract


def test_writing_ends_at_the_end_token_or_at_the_token_limit(tmp_path: Path) -> None:
    model = open_model(write_model(tmp_path / "m", chain("<s>", "ana", "likes", "tea", "</s>")))
    assert write(model).text == "ana likes tea"
    assert write(model).confidence == pytest.approx(1.0)
    assert write(model, max_tokens=2).text == "ana likes"
    endless = open_model(write_model(tmp_path / "endless", chain("<s>", "ana", "ana")))
    assert write(endless, max_tokens=5).text.split() == ["ana"] * 5
    assert len(write(endless, max_tokens=1_000_000).text.split()) == POSITIONS - 1


def test_the_models_own_settings_for_writing_are_used(tmp_path: Path) -> None:
    table = chain("<s>", "tea", "tea")
    table[WORDS.index("tea"), WORDS.index("may")] = table[WORDS.index("may"), WORDS.index("</s>")] = 20.0
    changes = {"forced_bos_token_id": WORDS.index("ana"), "no_repeat_ngram_size": 2}
    table[WORDS.index("ana"), WORDS.index("tea")] = 20.0
    model = open_model(write_model(tmp_path / "m", table, **changes))
    assert write(model).text == "ana tea tea may"
    prefixed = {"task_specific_params": {"summarization": {"prefix": "summarize: "}}}
    assert read_folder(write_model(tmp_path / "t5", **prefixed)).prefix == "summarize: "


def test_the_prefix_is_read_before_the_text(tmp_path: Path, random_model: OnnxSummarizer) -> None:
    prefixed = {"task_specific_params": {"summarization": {"prefix": "summarize: "}}}
    model = open_model(write_model(tmp_path / "t5", **prefixed))
    assert write(model, "ana likes tea") == write(random_model, "summarize: ana likes tea")


def test_a_transcript_too_long_to_read_at_once_is_read_in_parts_that_share_the_room(
    tmp_path: Path, random_model: OnnxSummarizer
) -> None:
    first, second = " ".join(["ana likes tea"] * 5), " ".join(["moved to oslo"] * 5)
    together = write(random_model, f"{first}\n\n{second}", 12)
    alone = [write(random_model, line, 6).text for line in (first, second)]
    assert together.text == "\n".join(filter(None, alone))
    model = open_model(write_model(tmp_path / "m", chain("<s>", "tea", "</s>")))
    assert write(model, " ".join(["ana"] * (POSITIONS * 3))).text == "tea\ntea\ntea\ntea"


def test_a_transcript_of_too_many_parts_is_refused_before_anything_is_written(random_model: OnnxSummarizer) -> None:
    for transcript in ("ana " * POSITIONS * 9, "x" * 1_000_000):
        with pytest.raises(TooLarge, match=f"8 parts of {POSITIONS} tokens"):
            write(random_model, transcript)


def test_the_model_stops_by_itself_when_its_time_is_up(tmp_path: Path) -> None:
    times = iter(range(100))
    model = open_model(
        write_model(tmp_path / "m", chain("<s>", "ana", "ana")), timeout_ms=5_000, monotonic=times.__next__
    )
    with pytest.raises(SummarizerFailed, match="did not finish within 5000 ms"):
        write(model, max_tokens=20)
    assert next(times) == 7, "one look at the clock for the start and for each token"


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200), st.integers(1, 30))
def test_any_transcript_gives_a_bounded_text_or_the_one_kind_of_error(
    random_model: OnnxSummarizer, transcript: str, max_tokens: int
) -> None:
    guarded = GuardedSummarizer(random_model, 60_000)
    try:
        abstract = guarded.summarise(transcript, earlier=transcript, max_tokens=max_tokens)
    except SummarizerFailed:
        return
    assert len(abstract.text.split()) <= max(max_tokens, 8)
    assert abstract.confidence is not None
    assert 0.0 <= abstract.confidence <= 1.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_numbers_are_a_failure(tmp_path: Path, value: float) -> None:
    table = np.full((len(WORDS), len(WORDS)), value, np.float32)
    with pytest.raises(SummarizerFailed, match="not numbers"):
        write(open_model(write_model(tmp_path / "m", table)))


def test_nothing_is_loaded_before_the_first_use_and_a_broken_file_is_a_failure_then(tmp_path: Path) -> None:
    for name in (ENCODER_FILE, DECODER_FILE, TOKENIZER_FILE):
        folder = write_model(tmp_path / name.partition(".")[0])
        (folder / name).write_bytes(b"\x00 nothing of use")
        guarded = GuardedSummarizer(open_model(folder), 60_000)
        assert guarded.ready()
        with pytest.raises(SummarizerFailed, match=name):
            guarded.summarise("ana", earlier="", max_tokens=5)
        assert not guarded.ready()


def test_a_decoder_that_needs_more_inputs_than_the_plain_layout_is_a_failure(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / ENCODER_FILE).write_bytes((folder / DECODER_FILE).read_bytes())
    with pytest.raises(SummarizerFailed, match="encoder_attention_mask; export the model without past"):
        write(open_model(folder))


def test_the_models_may_be_in_a_subfolder(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", chain("<s>", "tea", "</s>"))
    (folder / "onnx").mkdir()
    for name in (ENCODER_FILE, DECODER_FILE):
        (folder / name).rename(folder / "onnx" / name)
    model = open_model(folder)
    assert model.name == "onnx:m"
    assert write(model).text == "tea"


@pytest.mark.parametrize("name", [ENCODER_FILE, DECODER_FILE, TOKENIZER_FILE])
def test_a_folder_without_one_of_its_files_is_not_found(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "m")
    (folder / name).unlink()
    with pytest.raises(NotFound, match=name):
        read_folder(folder)


def test_the_generation_config_overrides_the_config(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", no_repeat_ngram_size=3)
    given = {"eos_token_id": [END, PAD], "no_repeat_ngram_size": None, "decoder_start_token_id": PAD}
    (folder / "generation_config.json").write_text(json.dumps(given))
    read = read_folder(folder)
    assert (read.end_tokens, read.first_tokens, read.unrepeated_tokens) == ({END, PAD}, (PAD,), 3)


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda given: {name: value for name, value in given.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without("eos_token_id"), "begin and end a text"),
        (without("decoder_start_token_id"), "begin and end a text"),
        (lambda given: given | {"eos_token_id": "end"}, "eos_token_id"),
        (lambda given: given | {"max_position_embeddings": 3}, "of no use"),
        (lambda given: [given], "config.json"),
    ],
)
def test_incomplete_settings_are_refused(tmp_path: Path, change: Callable[[dict[str, Any]], Any], reason: str) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "config.json").write_text(json.dumps(change(dict(SETTINGS))))
    with pytest.raises(InvalidInput, match=reason):
        read_folder(folder)


def test_a_folder_without_settings_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "config.json").unlink()
    with pytest.raises(InvalidInput, match=r"generation_config\.json"):
        read_folder(folder)
