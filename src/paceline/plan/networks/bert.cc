// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/plan/networks/shape_builder.h"

namespace paceline::plan {
namespace {

class BertBuilder {
 public:
  BertBuilder(std::string name, const BertOptions& options)
      : builder_(std::move(name)), options_(options) {}

  NetworkShape build() {
    embeddings();
    for (int i = 0; i < options_.layers; ++i) {
      layer(fmt::format("bert.encoder.layer.{}.", i));
    }
    heads();
    // The word embedding is also the decoder's weight: its gradient is final
    // where that of the first module is.
    return builder_.finish("bw");
  }

 private:
  double tokens(int width) const {
    return static_cast<double>(options_.sequence_length) * width;
  }
  double token_bytes(int width) const {
    return tokens(width) * kActivationBytes;
  }

  void embedding(const std::string& name, int rows) {
    builder_.add("bert.embeddings." + name,
                 {.kind = LayerKind::kEmbedding,
                  .flops = tokens(options_.hidden),
                  .bytes = 3 * token_bytes(options_.hidden)},
                 {rows, options_.hidden});
  }

  void norm(const std::string& name) {
    builder_.add(name,
                 {.kind = LayerKind::kNormalization,
                  .flops = 8 * tokens(options_.hidden),
                  .bytes = 3 * token_bytes(options_.hidden)},
                 {options_.hidden},
                 {options_.hidden});
  }

  void linear(const std::string& name, int in, int out) {
    builder_.add(name, linear_work(in, out), {out, in}, {out});
  }

  LayerWork linear_work(int in, int out) const {
    return {.kind = LayerKind::kLinear,
            .flops = 2 * tokens(in) * out,
            .bytes = token_bytes(in) + token_bytes(out)};
  }

  /// Elementwise work: dropout writes values and a mask, GELU is a chain of
  /// kernels of its own.
  void passes(int width, double count) {
    builder_.also(count * tokens(width), count * token_bytes(width));
  }

  void embeddings() {
    embedding("word_embeddings", options_.vocabulary);
    embedding("position_embeddings", options_.positions);
    embedding("token_type_embeddings", 2);
    norm("bert.embeddings.LayerNorm");
    passes(options_.hidden, 3);
    builder_.call(1);  // dropout
  }

  void layer(const std::string& prefix) {
    const int hidden = options_.hidden;
    linear(prefix + "attention.self.query", hidden, hidden);
    linear(prefix + "attention.self.key", hidden, hidden);
    linear(prefix + "attention.self.value", hidden, hidden);
    attention();
    linear(prefix + "attention.output.dense", hidden, hidden);
    passes(hidden, 6);  // dropout, residual addition
    norm(prefix + "attention.output.LayerNorm");
    linear(prefix + "intermediate.dense", hidden, options_.intermediate);
    passes(options_.intermediate, 2);  // GELU
    linear(prefix + "output.dense", options_.intermediate, hidden);
    passes(hidden, 6);
    norm(prefix + "output.LayerNorm");
    builder_.call(3);  // dropout of the scores and of both outputs
  }

  /// Scores, scaling, mask, softmax, dropout and the weighted sum: part of the
  /// value's module, which is the last before them.
  void attention() {
    const double scores = static_cast<double>(options_.heads) *
                          options_.sequence_length * options_.sequence_length;
    builder_.also(
        4 * tokens(options_.hidden) * options_.sequence_length + 10 * scores,
        8 * token_bytes(options_.hidden) + 12 * scores * kActivationBytes);
  }

  void heads() {
    const int hidden = options_.hidden;
    const LayerWork one_token{.kind = LayerKind::kLinear,
                              .flops = 2.0 * hidden * hidden,
                              .bytes = 2 * kActivationBytes * hidden};
    builder_.add("bert.pooler.dense", one_token, {hidden, hidden}, {hidden});
    builder_.call(1);  // tanh
    linear("cls.predictions.transform.dense", hidden, hidden);
    passes(hidden, 2);
    norm("cls.predictions.transform.LayerNorm");
    builder_.add_bias("cls.predictions",
                      linear_work(hidden, options_.vocabulary),
                      options_.vocabulary);
    builder_.add("cls.seq_relationship",
                 {.kind = LayerKind::kLinear,
                  .flops = 4.0 * hidden,
                  .bytes = kActivationBytes * (hidden + 2)},
                 {2, hidden},
                 {2});
    passes(options_.vocabulary, 5);  // log-softmax and loss of every token
  }

  ShapeBuilder builder_;
  BertOptions options_;
};

}  // namespace

NetworkShape bert_shape(std::string name, const BertOptions& options) {
  return BertBuilder(std::move(name), options).build();
}

}  // namespace paceline::plan
