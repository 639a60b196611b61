// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/validate/left_out.h"
#include "paceline/validate/protocols.h"

namespace paceline::validate {

/// Of what a table's lines are made: method, framework, percentile, algorithm.
std::string family_of(const Cell& cell);

/// A prediction beside what was published.
struct Judged {
  std::string id;
  Table table{};
  std::string family, group{};
  int gpus = 0;
  bool multi_node = false, scattered = false;
  double predicted = 0, published = 0;  // samples/s
  bool apart = false;                   // is_set_apart()
  std::string explanation{};

  /// Percent of the published throughput.
  double error() const { return 100 * (predicted / published - 1); }
};

/// The cells that were predicted so far off, in the order of the tables; those
/// of one group are off alike.
std::vector<Judged> judged(const Errors& errors, const Grouping& group);

/// A comparison of two bucket sizes: by how many percent the larger one's
/// iterations are faster.
struct BucketDifference {
  std::string id;  // of the row with small buckets
  double predicted = 0, published = 0;
};

/// What PyTorch's comparison of bucket caps of 25 and 1 MiB says of the
/// published rows: 1 - t(1 MiB) / t(25 MiB), in percent, negative where small
/// buckets are slower.
std::vector<BucketDifference> bucket_differences(
    Examinee& examinee,
    const std::vector<Cell>& cells,
    const Constants& constants,
    const std::filesystem::path& reference);

}  // namespace paceline::validate
