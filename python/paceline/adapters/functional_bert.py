# SPDX-License-Identifier: Apache-2.0
"""BERT as it is pre-trained, written with the operators of functional.py.

Names, shapes and arithmetic are those of Hugging Face's BertForPreTraining
without dropout.  Values of tokens are [batch * tokens, hidden].
"""

from paceline.adapters import network_shapes

_WORDS = "bert.embeddings.word_embeddings"
_QUERY = ".attention.self.query.weight"


class Bert:
    """BERT's pre-training network. `size` is the number of tokens of a text if the case does not
    state it."""

    reads_text = True
    classes = 0

    def __init__(self, name, size=64):
        self.size = size
        self._shapes = network_shapes.shapes(name)
        self.vocabulary, self.hidden = self._shapes[f"{_WORDS}.weight"]
        self.heads = self.hidden // 64  # each of BERT's attention heads is 64 wide
        self.layers = [
            x.removesuffix(_QUERY) for x in self._shapes if x.endswith(_QUERY)
        ]

    def shapes(self, _tokens, _classes):
        """Returns the shapes of the parameters in PyTorch's order, which lists the bias
        of a module before the parameters of the layers inside that module."""
        bias = "cls.predictions.bias"
        body = {x: s for x, s in self._shapes.items() if not x.startswith("cls.")}
        return body | {bias: self._shapes[bias]} | self._shapes

    def loss(self, ops, inputs, target):
        """`inputs` are the word ids and token types, [batch, 2, tokens].  `target` is
        whether the second sentence follows the first, then the masked words, [batch, 1 +
        tokens]."""
        tokens = inputs.shape[2]
        scores, follows = self.forward(ops, inputs[:, 0], inputs[:, 1], tokens)
        labels = ops.reshape(target[:, 1:], (-1,))
        return ops.cross_entropy(scores, labels) + ops.cross_entropy(
            follows, target[:, 0]
        )

    def forward(self, ops, words, types, tokens):
        """Returns (scores of all words at every token, scores of next-sentence
        prediction)."""
        x = ops.lookup(_WORDS, words, padding=0)
        x = ops.add(
            ops.rows("bert.embeddings.position_embeddings", tokens),
            x,
        )
        x = ops.add(x, ops.lookup("bert.embeddings.token_type_embeddings", types))
        x = ops.reshape(x, (-1, self.hidden))
        x = ops.layer_norm(x, "bert.embeddings.LayerNorm")
        for layer in self.layers:
            x = self._layer(ops, x, layer, tokens)
        pooled = ops.tanh(ops.linear(ops.first(x, tokens), "bert.pooler.dense"))
        head = "cls.predictions"
        y = ops.gelu(ops.linear(x, f"{head}.transform.dense"))
        y = ops.layer_norm(y, f"{head}.transform.LayerNorm")
        return (
            ops.tied(y, _WORDS, f"{head}.bias"),
            ops.linear(pooled, "cls.seq_relationship"),
        )

    def _layer(self, ops, x, name, tokens):
        def by_head(part):
            y = ops.linear(x, f"{name}.attention.self.{part}")
            return ops.reshape(
                y, (-1, tokens, self.heads, self.hidden // self.heads)
            )

        def residual(y, around, prefix):
            y = ops.add(around, ops.linear(y, f"{prefix}.dense"))
            return ops.layer_norm(y, f"{prefix}.LayerNorm")

        mixed = ops.attention(by_head("query"), by_head("key"), by_head("value"))
        mixed = ops.reshape(mixed, (-1, self.hidden))
        x = residual(mixed, x, f"{name}.attention.output")
        wide = ops.gelu(ops.linear(x, f"{name}.intermediate.dense"))
        return residual(wide, x, f"{name}.output")


NETWORKS = {
    "bert-base": Bert("bert-base"),
    "bert-large": Bert("bert-large"),
    "bert-tiny": Bert("bert-tiny"),
    "bert-base-30522": Bert("bert-base-30522", size=128),
}
