"""Builds a small, fast int8 ONNX encoder from the float weights of a BERT-shaped model.

Exported graphs vary: this one is fixed to a batch of one and spells attention out in twenty nodes. So
only the weights are taken from it, and the graph is written anew with the runtime's fused operators.
Matrices become int8 with one scale for each output column, word vectors int8 with one scale for each
word; activations are quantised by the runtime, text by text. The arithmetic here is plain, so the same
weights give the same file on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import ModelInstallFailed

Floats = NDArray[np.float32]

_CONTRIB = "com.microsoft"
_EPSILON = 1e-12
_LEVELS = 127
_MATRICES_PER_LAYER = 6


@dataclass(frozen=True, slots=True)
class Weights:
    """Float arrays by name, and the matrices of each layer: query, key, value, output, wide, narrow."""

    named: Mapping[str, Floats]
    layers: Sequence[Sequence[Floats]]


def read_weights(path: Path) -> Weights:
    """The weights of an exported BERT encoder; its matrices have no names, so their order tells them apart."""
    import onnx

    graph = onnx.load(path).graph
    named = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    matrices = [named[node.input[1]] for node in graph.node if node.op_type == "MatMul" and node.input[1] in named]
    if not matrices or len(matrices) % _MATRICES_PER_LAYER:
        raise ModelInstallFailed(f"{path.name} is not a BERT encoder of the expected shape")
    layers = [matrices[i : i + _MATRICES_PER_LAYER] for i in range(0, len(matrices), _MATRICES_PER_LAYER)]
    return Weights(named=named, layers=layers)


def write_int8_encoder(weights: Weights, heads: int, path: Path) -> None:
    """Write the encoder: token ids and mask in, one vector for each token out."""
    import onnx

    graph = _Graph(weights.named)
    hidden = _embeddings(graph)
    for number, matrices in enumerate(weights.layers):
        hidden = _layer(graph, f"encoder.layer.{number}", hidden, matrices, heads)
    graph.add("Identity", [hidden], "last_hidden_state")
    onnx.save(graph.model(), path)


@dataclass(slots=True)
class _Graph:
    """The graph as it grows. Each node is named by its one output."""

    named: Mapping[str, Floats]
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.add_many(operator, inputs, [output], **attributes)
        return output

    def add_many(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Any
    ) -> None:
        from onnx import helper

        name = outputs[0] + ".node"
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=name, domain=domain, **attributes))

    def constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.named[name])

    def model(self) -> Any:
        from onnx import TensorProto, helper

        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info(
            "last_hidden_state", TensorProto.FLOAT, ["batch", "length", "dimensions"]
        )
        graph = helper.make_graph(self.nodes, "encoder", inputs, [output], self.constants)
        versions = [helper.make_opsetid("", 17), helper.make_opsetid(_CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8, producer_name="clew")


def _embeddings(graph: _Graph) -> str:
    from onnx import TensorProto

    word = "embeddings.word_embeddings.weight"
    codes, scales = _quantise(graph.named[word], axis=1)
    graph.add("Gather", [graph.constant(word, codes), "input_ids"], "word.codes")
    graph.add("Gather", [graph.constant("word.scales", scales), "input_ids"], "word.scale")
    graph.add("Cast", ["word.codes"], "word.steps", to=TensorProto.FLOAT)
    graph.add("Mul", ["word.steps", "word.scale"], "word.vectors")

    # Every text is one segment, so the vector of segment 0 is part of each position's.
    segment = graph.named["embeddings.token_type_embeddings.weight"][0]
    positions = graph.constant("positions", graph.named["embeddings.position_embeddings.weight"] + segment)
    graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    graph.add("Slice", [positions, graph.constant("first", np.array([0], np.int64)), "length"], "position.vectors")
    graph.add("Add", ["word.vectors", "position.vectors"], "embeddings.sum")
    graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    norm = [graph.weight("embeddings.LayerNorm.weight"), graph.weight("embeddings.LayerNorm.bias")]
    return graph.add("LayerNormalization", ["embeddings.sum", *norm], "embeddings.out", epsilon=_EPSILON, axis=-1)


def _layer(graph: _Graph, name: str, hidden: str, matrices: Sequence[Floats], heads: int) -> str:
    query, key, value, output, wide, narrow = matrices
    attended = _attention(graph, name, hidden, np.concatenate([query, key, value], axis=1), heads)
    projected = _matmul(graph, f"{name}.projected", attended, output)
    middle = _add_and_norm(graph, f"{name}.attention.output", projected, hidden)
    widened = _matmul(graph, f"{name}.widened", middle, wide)
    bias = graph.weight(f"{name}.intermediate.dense.bias")
    active = graph.add("BiasGelu", [widened, bias], f"{name}.active", domain=_CONTRIB)
    narrowed = _matmul(graph, f"{name}.narrowed", active, narrow)
    return _add_and_norm(graph, f"{name}.output", narrowed, middle)


def _attention(graph: _Graph, name: str, hidden: str, matrix: Floats, heads: int) -> str:
    parts = ("query", "key", "value")
    bias = np.concatenate([graph.named[f"{name}.attention.self.{part}.bias"] for part in parts])
    codes, scales = _quantise(matrix, axis=0)
    name = f"{name}.attention"
    given = [f"{name}.in", f"{name}.in.scale", f"{name}.in.zero"]
    graph.add_many("DynamicQuantizeLinear", [hidden], given)
    inputs = [
        given[0],
        graph.constant(f"{name}.codes", codes),
        graph.constant(f"{name}.bias", bias),
        given[1],
        graph.constant(f"{name}.scales", scales),
        "mask",
        given[2],
        graph.constant(f"{name}.zeros", np.zeros(matrix.shape[1], np.int8)),
    ]
    return graph.add("QAttention", inputs, f"{name}.out", domain=_CONTRIB, num_heads=heads)


def _matmul(graph: _Graph, name: str, hidden: str, matrix: Floats) -> str:
    codes, scales = _quantise(matrix, axis=0)
    inputs = [
        hidden,
        graph.constant(f"{name}.codes", codes),
        graph.constant(f"{name}.scales", scales),
        graph.constant(f"{name}.zeros", np.zeros(matrix.shape[1], np.int8)),
    ]
    return graph.add("DynamicQuantizeMatMul", inputs, name, domain=_CONTRIB)


def _add_and_norm(graph: _Graph, name: str, hidden: str, skipped: str) -> str:
    inputs = [
        hidden,
        skipped,
        graph.weight(f"{name}.LayerNorm.weight"),
        graph.weight(f"{name}.LayerNorm.bias"),
        graph.weight(f"{name}.dense.bias"),
    ]
    return graph.add("SkipLayerNormalization", inputs, f"{name}.out", domain=_CONTRIB, epsilon=_EPSILON)


def _quantise(values: Floats, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Symmetric int8 codes with one scale along the axis; a row of zeros keeps a usable scale."""
    peak = np.abs(values).max(axis=axis, keepdims=True)
    scales = (np.maximum(peak, np.float32(1e-9)) / np.float32(_LEVELS)).astype(np.float32)
    codes = np.clip(np.rint(values / scales), -_LEVELS, _LEVELS).astype(np.int8)
    return codes, scales if axis else scales.ravel()
