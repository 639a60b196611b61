# SPDX-License-Identifier: Apache-2.0
"""BERT as it is pre-trained, as a function of the operators of functional.py.

Names, shapes and arithmetic are those of Hugging Face's BertForPreTraining
without dropout.  Values of tokens are [batch * tokens, hidden].
"""

from dataclasses import dataclass

_POSITIONS = 512
_TYPES = 2
_WORDS = "bert.embeddings.word_embeddings"


@dataclass(frozen=True)
class Bert:
    hidden: int
    layers: int
    heads: int
    size: int = 64  # tokens
    vocabulary: int = 30528

    reads_text = True
    classes = 0

    def shapes(self, _tokens, _classes):
        """Of the parameters, in PyTorch's order."""
        wide = 4 * self.hidden
        all_ = {
            f"{_WORDS}.weight": (self.vocabulary, self.hidden),
            "bert.embeddings.position_embeddings.weight": (_POSITIONS, self.hidden),
            "bert.embeddings.token_type_embeddings.weight": (_TYPES, self.hidden),
        }

        def norm(prefix):
            all_[f"{prefix}.weight"] = all_[f"{prefix}.bias"] = (self.hidden,)

        def linear(prefix, outputs=self.hidden, inputs=self.hidden):
            all_[f"{prefix}.weight"] = (outputs, inputs)
            all_[f"{prefix}.bias"] = (outputs,)

        norm("bert.embeddings.LayerNorm")
        for layer in self.prefixes():
            for part in ("query", "key", "value"):
                linear(f"{layer}.attention.self.{part}")
            linear(f"{layer}.attention.output.dense")
            norm(f"{layer}.attention.output.LayerNorm")
            linear(f"{layer}.intermediate.dense", wide)
            linear(f"{layer}.output.dense", self.hidden, wide)
            norm(f"{layer}.output.LayerNorm")
        linear("bert.pooler.dense")
        all_["cls.predictions.bias"] = (self.vocabulary,)
        linear("cls.predictions.transform.dense")
        norm("cls.predictions.transform.LayerNorm")
        linear("cls.seq_relationship", 2)
        return all_

    def prefixes(self):
        return [f"bert.encoder.layer.{i}" for i in range(self.layers)]

    def loss(self, ops, inputs, target):
        """`inputs`: words and types, [batch, 2, tokens]; `target`: whether the
        second sentence follows, then the hidden words, [batch, 1 + tokens]."""
        tokens = inputs.shape[2]
        scores, follows = self.forward(ops, inputs[:, 0], inputs[:, 1], tokens)
        labels = ops.reshape(target[:, 1:], (-1,))
        return ops.cross_entropy(scores, labels) + ops.cross_entropy(
            follows, target[:, 0]
        )

    def forward(self, ops, words, types, tokens):
        """(scores of all words at every token, scores of `follows`)."""
        x = ops.lookup(_WORDS, words, padding=0)
        x = ops.add(
            ops.rows("bert.embeddings.position_embeddings", tokens),
            x,
        )
        x = ops.add(x, ops.lookup("bert.embeddings.token_type_embeddings", types))
        x = ops.reshape(x, (-1, self.hidden))
        x = ops.layer_norm(x, "bert.embeddings.LayerNorm")
        for layer in self.prefixes():
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
