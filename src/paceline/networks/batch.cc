// SPDX-License-Identifier: Apache-2.0
#include "paceline/networks/batch.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/networks/formula.h"
#include "paceline/networks/network.h"
#include "paceline/networks/tabulate.h"

namespace paceline::networks {
namespace {

// The numbers of a batch's random streams.  adapters/formula.py has the same numbers.
enum Stream : std::uint32_t {
  kInput = 1,
  kTarget = 2,
  kPlaces = 3,        // selects the tokens whose words are to be predicted
  kKinds = 4,         // selects mask, another word, or the word itself
  kReplacements = 5,  // selects the words that replace others
};

constexpr std::uint32_t kMaskToken = 103;  // the mask token of BERT's original vocabulary
constexpr std::uint32_t kOriginalVocabulary = 2000;

std::uint32_t stream_for(Stream name, const BatchOptions& options) {
  return stream_of({low_word(options.seed), high_word(options.seed),
                    static_cast<std::uint32_t>(options.rank), name});
}

at::Tensor uniform(at::IntArrayRef sizes, Stream name, std::uint32_t limit,
                   const BatchOptions& options) {
  const std::uint32_t stream = stream_for(name, options);
  return tabulate<std::int64_t>(
      sizes, [=](std::uint32_t i) { return uniform_integer_at(stream, i, limit); });
}

at::Tensor make_images(at::IntArrayRef sizes, const BatchOptions& options) {
  const std::uint32_t stream = stream_for(kInput, options);
  if (options.integers) {
    return tabulate<float>(sizes,
                           [=](std::uint32_t i) { return uniform_integer_at(stream, i, 4); });
  }
  return tabulate<float>(sizes, [=](std::uint32_t i) { return uniform_unit_at(stream, i); });
}

Batch batch_of(const ImageSample& sample, const BatchOptions& options) {
  const at::Tensor input =
      make_images({options.batch_size, sample.channels, sample.side, sample.side}, options);
  const at::Tensor target =
      uniform({options.batch_size}, kTarget, static_cast<std::uint32_t>(sample.classes), options);
  return {.input = input.to(options.device, options.dtype)
                       .contiguous(options.channels_last ? at::MemoryFormat::ChannelsLast
                                                         : at::MemoryFormat::Contiguous),
          .target = target.to(options.device),
          .integers = options.integers};
}

/// Masks words of a [batch, tokens] tensor in place.  Returns a tensor of the same shape that has
/// the original words where they are to be predicted, and kNoLabel elsewhere.
at::Tensor mask_words(at::Tensor& words, const TextSample& sample, const BatchOptions& options) {
  at::Tensor labels = at::full_like(words, kNoLabel);
  const std::uint32_t places = stream_for(kPlaces, options);
  const std::uint32_t kinds = stream_for(kKinds, options);
  const std::uint32_t others = stream_for(kReplacements, options);
  const auto tokens = static_cast<std::uint32_t>(sample.tokens);
  const auto hidden = static_cast<std::ptrdiff_t>(std::max(1U, (15 * tokens + 50) / 100));
  auto* word = words.mutable_data_ptr<std::int64_t>();
  auto* label = labels.mutable_data_ptr<std::int64_t>();
  std::vector<std::uint32_t> order(tokens);
  for (std::uint32_t first = 0; first < words.numel(); first += tokens) {
    std::iota(order.begin(), order.end(), first);
    std::ranges::partial_sort(order, order.begin() + hidden, {}, [&](std::uint32_t i) {
      return random_word_at(places, i);  // no two of these numbers are equal
    });
    for (const std::uint32_t i : std::span(order).first(static_cast<std::size_t>(hidden))) {
      label[i] = word[i];
      const std::uint32_t kind = uniform_integer_at(kinds, i, 10);
      if (kind < 8) {
        word[i] = kMaskToken;
      } else if (kind == 8) {
        word[i] = uniform_integer_at(others, i, static_cast<std::uint32_t>(sample.vocabulary));
      }
    }
  }
  return labels;
}

Batch batch_of(const TextSample& sample, const BatchOptions& options) {
  if (options.integers) {
    throw UsageError(
        "a network that reads text has layer normalization: no batch keeps its values integers");
  }
  const bool zeros = options.network.zeros;
  const std::int64_t batch = options.batch_size;
  const std::int64_t tokens = sample.tokens;
  at::Tensor words =
      uniform({batch, tokens}, kInput,
              zeros ? kOriginalVocabulary : static_cast<std::uint32_t>(sample.vocabulary), options);
  at::Tensor second = at::zeros_like(words);
  at::Tensor follows = at::zeros({batch, 1}, words.options());
  at::Tensor labels = at::zeros_like(words);
  if (!zeros) {
    second.narrow(1, (tokens + 1) / 2, tokens / 2).fill_(1);
    follows = uniform({batch, 1}, kTarget, 2, options);
    labels = mask_words(words, sample, options);
  }
  return {.input = at::stack({words, second}, 1).to(options.device),
          .target = at::cat({follows, labels}, 1).to(options.device)};
}

}  // namespace

Batch make_batch(const NetworkInfo& info, const BatchOptions& options) {
  if (options.batch_size < 1) {
    throw UsageError(fmt::format("batch size {} must be at least 1", options.batch_size));
  }
  return std::visit([&](const auto& sample) { return batch_of(sample, options); },
                    sample_of(info, options.network));
}

at::Tensor integer_loss(const at::Tensor& logits, const at::Tensor& target) {
  const at::Tensor index = target.unsqueeze(1);
  const at::Tensor next = (index + 1).remainder(logits.size(1));
  return (logits.gather(1, index) - logits.gather(1, next)).sum();
}

at::Tensor mean_loss(const at::Tensor& outputs, const at::Tensor& target) {
  return target.is_floating_point() ? (outputs.squeeze(1) - target).square().mean() / 2
                                    : at::cross_entropy_loss(outputs, target);
}

at::Tensor Classifier::loss(const Batch& batch) {
  const at::Tensor logits = forward(batch.input);
  return batch.integers ? integer_loss(logits, batch.target) : mean_loss(logits, batch.target);
}

}  // namespace paceline::networks
