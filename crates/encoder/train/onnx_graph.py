"""The model of `model.py` as an ONNX graph: `input_ids`, `attention_mask` (B x T) to `output` (B x T x o).

A text begins with its prefix, [Q] or [D], which selects the side, once for each head; these rows are the summary. Rows
of padding are meaningless. The graph is written out here, since a tracer would fix the packing of `model.py` into it.
"""

import math

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from model import DOCUMENT, QUERY, Model

OPSET = 17
Q_ID, D_ID = 2, 3


class Builder:
    """Nodes and constants of a graph; every method gives the name of a value."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, value: np.ndarray) -> str:
        value = np.asarray(value, order="C")
        key = (value.tobytes(), value.dtype.str, value.shape)
        if key not in self.constants:
            self.constants[key] = numpy_helper.from_array(value, f"c{len(self.constants)}")
        return self.constants[key].name

    def floats(self, value) -> str:
        return self.constant(np.asarray(value, np.float32))

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def node(self, kind: str, *inputs: str, outputs: int = 1, name: str | None = None, **attributes):
        names = [name] if name else [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x: str, weight: np.ndarray, bias: np.ndarray | None = None) -> str:
        y = self.node("MatMul", x, self.floats(weight.T))
        return y if bias is None else self.node("Add", y, self.floats(bias))

    def normalised(self, x: str) -> str:
        norm = self.node("ReduceL2", x, axes=[-1], keepdims=1)
        return self.node("Div", x, self.node("Max", norm, self.floats(1e-12)))

    def layer_norm(self, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
        return self.node("LayerNormalization", x, self.floats(weight), self.floats(bias), axis=-1, epsilon=1e-5)

    def clipped(self, x: str, low: float, high: float) -> str:
        return self.node("Clip", x, self.floats(low), self.floats(high))


def graph(model: Model) -> ModelProto:
    """The graph of a model whose table holds whole numbers in -128..127 (as `export.quantised` makes it)."""
    state = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}
    config, b = model.config, Builder()
    d, kernel = config.dim, config.kernel

    def of_side(values: np.ndarray) -> str:
        """2 x n, a row a side: B x 1 x n."""
        query = b.node("Mul", is_query, b.floats(values[QUERY][None, None, :]))
        return b.node("Add", query, b.node("Mul", is_document, b.floats(values[DOCUMENT][None, None, :])))

    first = b.node("Slice", "input_ids", b.ints(0), b.ints(1), b.ints(1))
    is_query = b.node("Cast", b.node("Equal", first, b.ints(Q_ID)), to=TensorProto.FLOAT)
    is_query = b.node("Unsqueeze", is_query, b.ints(-1))
    is_document = b.node("Sub", b.floats(1.0), is_query)
    prefix = b.node("Or", b.node("Equal", "input_ids", b.ints(Q_ID)), b.node("Equal", "input_ids", b.ints(D_ID)))
    real = b.node("And", b.node("Cast", "attention_mask", to=TensorProto.BOOL), b.node("Not", prefix))
    mask = b.node("Unsqueeze", b.node("Cast", real, to=TensorProto.FLOAT), b.ints(-1))

    table = b.constant(state["table"].astype(np.int8))
    e = b.normalised(b.node("Cast", b.node("Gather", table, "input_ids"), to=TensorProto.FLOAT))
    x = b.node("Add", b.node("Mul", e, b.floats(math.sqrt(d))), of_side(state["side"]))
    for i in range(config.layers):
        part = {name.split(".", 2)[2]: value for name, value in state.items() if name.startswith(f"blocks.{i}.")}
        y = b.node("Mul", b.layer_norm(x, part["norm.weight"], part["norm.bias"]), mask)
        z = b.node("Transpose", y, perm=[0, 2, 1])
        taps = b.floats(part["depthwise"].T[:, None, :])
        z = b.node("Conv", z, taps, group=d, kernel_shape=[kernel], pads=[kernel // 2, kernel - 1 - kernel // 2])
        wide = b.linear(b.node("Transpose", z, perm=[0, 2, 1]), part["up.weight"], part["up.bias"])
        value, gate = b.node("Split", wide, b.ints(config.hidden, config.hidden), outputs=2, axis=-1)
        gated = b.node("Mul", value, b.node("Sigmoid", gate))
        x = b.node("Add", x, b.linear(gated, part["down.weight"], part["down.bias"]))
    h = b.layer_norm(x, state["norm.weight"], state["norm.bias"])

    gates = b.clipped(b.linear(h, state["gate.weight"], state["gate.bias"]), -2.0, 2.0)
    learned = np.stack([state["query_weight"], state["document_weight"], state["summary_weight"]], 1)
    logs = b.node("Add", b.node("Gather", b.floats(learned), "input_ids"), gates)
    query, document, share = b.node("Split", logs, b.ints(1, 1, 1), outputs=3, axis=-1)
    log = b.node("Add", b.node("Mul", is_query, query),
                 b.node("Mul", is_document, b.clipped(document, -3.0, 0.7)))  # fmt: skip
    direction = b.normalised(b.node("Add", e, b.linear(h, state["out.weight"], state["out.bias"])))
    rows = b.node("Mul", b.linear(direction, state["project"]), b.node("Exp", log))

    share = b.node("Mul", b.node("Exp", share), mask)
    parts = b.node("Mul", share, b.node("Add", e, b.linear(h, state["summary.weight"])))
    pooled = b.normalised(b.node("ReduceSum", parts, b.ints(1), keepdims=1))
    scaled = b.node("Mul", pooled, b.floats(np.exp(state["omega"] / 2)))
    summary = b.node("Reshape", scaled, b.ints(0, config.heads, config.output_dim))
    tokens = b.node("Slice", rows, b.ints(config.heads), b.ints(np.iinfo(np.int64).max), b.ints(1))
    b.node("Concat", summary, tokens, axis=1, name="output")

    shape = ["batch_size", "sequence_length"]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ["input_ids", "attention_mask"]]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, [*shape, config.output_dim])
    built = helper.make_graph(b.nodes, "colgrep", inputs, [output], list(b.constants.values()))
    return helper.make_model(built, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
