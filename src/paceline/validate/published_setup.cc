// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/published_setup.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::validate {
namespace {

constexpr Published kModels[] = {
    {"ResNet-50", "resnet50", 64, 253.1, false},
    {"BERT-Base", "bert-base", 64, 212.8, true},
    {"BERT-Large", "bert-large", 8, 49, true},
};

constexpr PublishedLine kTable10[] = {
    {4, 4.204298980348825e-05, 2.0589360830118177e-10},
    {8, 0.0005230272768511732, 8.570746975492128e-10},
    {16, 0.0009080981007148093, 7.395651186836712e-10},
    {32, 0.004042923236574415, 8.643300782166769e-10},
};
constexpr PublishedLine kTable56[] = {
    {4, 4.204298980348825e-05, 2.0589360830118177e-10},
    {8, 9.75367204301171e-05, 3.0568230536676206e-10},
    {16, 0.0007075103297974705, 4.0594787739537565e-10},
    {32, 0.0004063207999629258, 4.906985929465796e-10},
};

}  // namespace

std::span<const Published> published_models() {
  return kModels;
}

const Published& published(std::string_view model) {
  const auto* const found =
      std::ranges::find(kModels, model, &Published::model);
  if (found == std::end(kModels)) {
    throw UsageError(fmt::format("the survey has no model '{}'", model));
  }
  return *found;
}

std::span<const PublishedLine> planning_lines(std::string_view network) {
  if (network == "10GbE") {
    return kTable10;
  }
  return kTable56;
}

double bluefog_alone(int batch_size) {
  return batch_size == 64 ? 350.6 : 314.8;
}

}  // namespace paceline::validate
