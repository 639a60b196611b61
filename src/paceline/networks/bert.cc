// SPDX-License-Identifier: Apache-2.0
// BERT in the form in which it is pre-trained.  Names, order and arithmetic are those of Hugging
// Face's BertForPreTraining.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/networks/families.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"

namespace paceline::networks {
namespace {

namespace nn = torch::nn;

constexpr int kPositions = 512;
constexpr int kTokenTypes = 2;
constexpr double kBertDropout = 0.1;
constexpr double kEpsilon = 1e-12;
constexpr double kInitialDeviation = 0.02;

LayerNorm layer_norm(int width) { return LayerNorm(nn::LayerNormOptions({width}).eps(kEpsilon)); }

// Activations always have the shape [batch * tokens, hidden], so that a linear layer is one call of
// addmm.

class EmbeddingsImpl final : public nn::Module {
 public:
  EmbeddingsImpl(const BertShape& shape, double dropout)
      : word_(nn::EmbeddingOptions(shape.vocabulary, shape.hidden).padding_idx(0)),
        position_(nn::EmbeddingOptions(kPositions, shape.hidden)),
        token_type_(nn::EmbeddingOptions(kTokenTypes, shape.hidden)),
        norm_(layer_norm(shape.hidden)),
        dropout_(dropout) {
    register_module("word_embeddings", word_);
    register_module("position_embeddings", position_);
    register_module("token_type_embeddings", token_type_);
    register_module("LayerNorm", norm_);
  }

  /// `words`, `types`: [batch, tokens].
  at::Tensor forward(const at::Tensor& words, const at::Tensor& types) {
    at::Tensor sum = word_(words);
    sum = sum + position_(at::arange(words.size(1), words.options()));
    sum = sum + token_type_(types);
    return at::dropout(norm_(sum.flatten(0, 1)), dropout_, is_training());
  }

  const at::Tensor& words() const { return word_->weight; }

 private:
  Embedding word_, position_, token_type_;
  LayerNorm norm_;
  double dropout_;
};
TORCH_MODULE(Embeddings);

class SelfAttentionImpl final : public nn::Module {
 public:
  SelfAttentionImpl(const BertShape& shape, double dropout)
      : query_(shape.hidden, shape.hidden),
        key_(shape.hidden, shape.hidden),
        value_(shape.hidden, shape.hidden),
        heads_(shape.heads),
        dropout_(dropout) {
    register_module("query", query_);
    register_module("key", key_);
    register_module("value", value_);
  }

  at::Tensor forward(const at::Tensor& hidden, std::int64_t tokens) {
    const std::int64_t width = hidden.size(1);
    const auto by_head = [&](const at::Tensor& values) {
      return values.view({-1, tokens, heads_, width / heads_}).transpose(1, 2);
    };
    const at::Tensor query = by_head(query_(hidden));
    const at::Tensor key = by_head(key_(hidden));
    const at::Tensor value = by_head(value_(hidden));
    return at::scaled_dot_product_attention(query, key, value, {}, is_training() ? dropout_ : 0.0)
        .transpose(1, 2)
        .reshape({-1, width});
  }

 private:
  Linear query_, key_, value_;
  std::int64_t heads_;
  double dropout_;
};
TORCH_MODULE(SelfAttention);

/// A linear layer and dropout, then the addition of `residual_input` (the residual connection) and
/// a layer norm.
class ResidualOutputImpl final : public nn::Module {
 public:
  ResidualOutputImpl(int in, int out, double dropout)
      : dense_(in, out), norm_(layer_norm(out)), dropout_(dropout) {
    register_module("dense", dense_);
    register_module("LayerNorm", norm_);
  }

  at::Tensor forward(const at::Tensor& input, const at::Tensor& residual_input) {
    return norm_(at::dropout(dense_(input), dropout_, is_training()) + residual_input);
  }

 private:
  Linear dense_;
  LayerNorm norm_;
  double dropout_;
};
TORCH_MODULE(ResidualOutput);

class EncoderLayerImpl final : public nn::Module {
 public:
  EncoderLayerImpl(const BertShape& shape, double dropout)
      : self_(shape, dropout),
        attended_(shape.hidden, shape.hidden, dropout),
        intermediate_(shape.hidden, shape.intermediate),
        output_(shape.intermediate, shape.hidden, dropout) {
    const auto attention = register_module("attention", std::make_shared<nn::Module>());
    attention->register_module("self", self_);
    attention->register_module("output", attended_);
    register_module("intermediate", std::make_shared<nn::Module>())
        ->register_module("dense", intermediate_);
    register_module("output", output_);
  }

  at::Tensor forward(const at::Tensor& hidden, std::int64_t tokens) {
    const at::Tensor attended = attended_(self_(hidden, tokens), hidden);
    return output_(at::gelu(intermediate_(attended)), attended);
  }

 private:
  SelfAttention self_;
  ResidualOutput attended_;
  Linear intermediate_;
  ResidualOutput output_;
};
TORCH_MODULE(EncoderLayer);

/// Computes logits of all words at every token with the weights of the word embedding.  Its gate
/// covers this matrix product; the layers of the transform before it have gates of their own.
class WordScoresImpl final : public nn::Module, public Gated {
 public:
  explicit WordScoresImpl(const BertShape& shape)
      : bias_(register_parameter("bias", torch::zeros({shape.vocabulary}))),
        dense_(shape.hidden, shape.hidden),
        norm_(layer_norm(shape.hidden)) {
    const auto transform = register_module("transform", std::make_shared<nn::Module>());
    transform->register_module("dense", dense_);
    transform->register_module("LayerNorm", norm_);
  }

  at::Tensor forward(const at::Tensor& hidden, const at::Tensor& words) {
    const at::Tensor transformed = norm_(at::gelu(dense_(hidden)));
    return run_through_gates([&] { return at::addmm(bias_, transformed, words.t()); });
  }

 private:
  at::Tensor bias_;
  Linear dense_;
  LayerNorm norm_;
};
TORCH_MODULE(WordScores);

class Bert final : public Network {
 public:
  Bert(const BertShape& shape, double dropout)
      : embeddings_(shape, dropout),
        pooler_(shape.hidden, shape.hidden),
        words_(shape),
        follows_(shape.hidden, 2) {
    const auto bert = register_module("bert", std::make_shared<nn::Module>());
    bert->register_module("embeddings", embeddings_);
    const auto encoder = bert->register_module("encoder", std::make_shared<nn::Module>());
    const auto layers = encoder->register_module("layer", std::make_shared<nn::Module>());
    for (int i = 0; i < shape.layers; ++i) {
      layers_.emplace_back(
          layers->register_module(fmt::to_string(i), EncoderLayer(shape, dropout)));
    }
    bert->register_module("pooler", std::make_shared<nn::Module>())
        ->register_module("dense", pooler_);
    const auto heads = register_module("cls", std::make_shared<nn::Module>());
    heads->register_module("predictions", words_);
    heads->register_module("seq_relationship", follows_);
    initialize();
  }

  at::Tensor loss(const Batch& batch) override {
    const std::int64_t tokens = batch.input.size(2);
    at::Tensor hidden = embeddings_(batch.input.select(1, 0), batch.input.select(1, 1));
    for (EncoderLayer& layer : layers_) {
      hidden = layer(hidden, tokens);
    }
    const at::Tensor first = hidden.view({-1, tokens, hidden.size(1)}).select(1, 0);
    const at::Tensor pooled = at::tanh(pooler_(first));
    const at::Tensor words = words_(hidden, embeddings_->words());
    const at::Tensor follows = follows_(pooled);
    return at::cross_entropy_loss(words, batch.target.narrow(1, 1, tokens).flatten(), {},
                                  at::Reduction::Mean, kNoLabel) +
           at::cross_entropy_loss(follows, batch.target.select(1, 0));
  }

 private:
  void initialize() {
    const torch::NoGradGuard no_grad;
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* linear = module->as<nn::LinearImpl>()) {
        linear->weight.normal_(0, kInitialDeviation);
        linear->bias.zero_();
      } else if (auto* embedding = module->as<nn::EmbeddingImpl>()) {
        embedding->weight.normal_(0, kInitialDeviation);
      }
    }
    embeddings_->words()[0].zero_();  // the row of the padding word
  }

  Embeddings embeddings_;
  std::vector<EncoderLayer> layers_;
  Linear pooler_;
  WordScores words_;
  Linear follows_;
};

}  // namespace

std::shared_ptr<Network> make_bert(const BertShape& shape, const NetworkOptions& options) {
  if (options.sequence_length > kPositions) {
    throw UsageError(fmt::format("sequence length {} is above the {} positions of BERT",
                                 options.sequence_length, kPositions));
  }
  return std::make_shared<Bert>(shape, options.dropout.value_or(kBertDropout));
}

}  // namespace paceline::networks
