// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "paceline/base/text.h"

namespace paceline::plan {

/// The properties of a set of training data that are known without reading it.
struct DataTraits {
  std::string_view name;  // as in --data, before a colon
  std::string_view summary;
  int side = 0;  // of the square input, in pixels
  int channels = 0;
  int classes = 0;                   // number of outputs of the network
  bool regression = false;           // targets are numbers, so there is no accuracy
  std::string_view required_file{};  // NAME:DIR: a file that DIR must hold
  /// NAME:FILE: the file is mapped into memory and read as the input of a benchmark, without
  /// evaluations.  Its header has its sizes (plan/sample_file.h).
  bool mapped = false;
};

inline constexpr auto kData = std::to_array<DataTraits>({
    {.name = "digits",
     .summary =
         "handwritten digits of 8 x 8 pixels, part of the program: 1438 to train on, 359 to test",
     .side = 8,
     .channels = 1,
     .classes = 10},
    {.name = "teacher",
     .summary = "random inputs and the classes that a random network gives them: 4096 to train on, "
                "1024 to test",
     .side = 8,
     .channels = 1,
     .classes = 10},
    {.name = "least-squares",
     .summary = "linear regression on 1024 samples of 10 groups that differ in their weights; its "
                "optimum is known",
     .side = 8,
     .channels = 1,
     .classes = 1,
     .regression = true},
    {.name = "mnist",
     .summary = "mnist:DIR, a folder with the four unpacked IDX files",
     .side = 28,
     .channels = 1,
     .classes = 10,
     .required_file = "train-images-idx3-ubyte"},
    {.name = "cifar10",
     .summary = "cifar10:DIR, a folder with the binary version's batches",
     .side = 32,
     .channels = 3,
     .classes = 10,
     .required_file = "data_batch_1.bin"},
    {.name = "mmap",
     .summary = "mmap:FILE, a file of decoded images that is mapped and read ahead: a benchmark "
                "with input, without evaluations",
     .mapped = true},
});

/// The row for `data`, which is NAME or NAME:DIR; null if there is none.
constexpr const DataTraits* find_data_traits(std::string_view data) {
  const auto* row = std::ranges::find(kData, data.substr(0, data.find(':')), &DataTraits::name);
  return row == kData.end() ? nullptr : row;
}

/// Whether `data` names a file from which a benchmark reads its batches.
constexpr bool is_mapped(std::string_view data) {
  const DataTraits* row = data.empty() ? nullptr : find_data_traits(data);
  return row != nullptr && row->mapped;
}

/// Parses --split: returns 0 for "even", ALPHA for "dirichlet:ALPHA" from 0.01 to 1000, and nullopt
/// for other text.
inline std::optional<double> dirichlet_alpha(std::string_view split) {
  constexpr std::string_view kPrefix = "dirichlet:";
  if (split == "even") {
    return 0;
  }
  if (!split.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const auto alpha = number_from<double>(split.substr(kPrefix.size()));
  return alpha && *alpha >= 0.01 && *alpha <= 1000 ? alpha : std::nullopt;
}

}  // namespace paceline::plan
