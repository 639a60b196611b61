// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <torch/types.h>

#include "paceline/base/error.h"

namespace paceline::measure {
namespace {

constexpr std::int64_t kSamplesAtOnce = 512;

void copy_all(const std::vector<at::Tensor>& from,
              const std::vector<at::Tensor>& to) {
  PACELINE_CHECK_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].copy_(from[i]);
  }
}

}  // namespace

records::Evaluation Evaluator::of(const networks::Network& trained) {
  const at::NoGradGuard no_grad;
  copy_all(trained.parameters(), copy_->parameters());
  copy_all(trained.buffers(), copy_->buffers());
  const networks::Samples& test = data_.test();
  const bool classes = !test.targets.is_floating_point();
  double loss = 0;
  std::int64_t right = 0;
  for (std::int64_t from = 0; from < test.count(); from += kSamplesAtOnce) {
    const std::int64_t count = std::min(kSamplesAtOnce, test.count() - from);
    const networks::Batch batch =
        data_.batch_of({.inputs = test.inputs.narrow(0, from, count),
                        .targets = test.targets.narrow(0, from, count)});
    const at::Tensor outputs = copy_->forward(batch.input);
    loss += networks::mean_loss(outputs, batch.target).item<double>() *
            static_cast<double>(count);
    if (classes) {
      right += outputs.argmax(1).eq(batch.target).sum().item<std::int64_t>();
    }
  }
  const auto count = static_cast<double>(test.count());
  records::Evaluation evaluation;
  loss = loss / count - data_.least_loss();
  if (std::isfinite(loss)) {
    evaluation.loss = loss;
  }
  if (classes) {
    evaluation.accuracy = static_cast<double>(right) / count;
  }
  return evaluation;
}

}  // namespace paceline::measure
