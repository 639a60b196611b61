// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/networks/batch.h"
#include "paceline/plan/data_traits.h"

namespace paceline::networks {

/// On the CPU.  inputs: [n, channels, side, side] float; targets: [n] of int64 classes, or of float
/// for a regression.
struct Samples {
  at::Tensor inputs, targets;

  std::int64_t count() const { return inputs.size(0); }

  /// The samples with these numbers.
  Samples take(const std::vector<std::int64_t>& numbers) const;
};

struct DataSet {
  Samples train, test;
  /// Shape [n]: for each training sample its class (in a regression, its group), by which an uneven
  /// split deals samples out to ranks.
  std::vector<std::int64_t> groups;
};

/// Reads or makes the data that --data names, one of plan::kData.  Made data depends on `seed`
/// alone.  Throws UsageError for missing or damaged files.
DataSet load_data(const std::string& data, std::uint64_t seed);

/// Which training samples each of `ranks` has, floor(n / ranks) each:
///
///   even             a random permutation, dealt in turn
///   dirichlet:ALPHA  each rank draws its share of every group from a Dirichlet
///                    distribution with ALPHA for each, then samples from these
///                    shares without replacement: the smaller ALPHA, the more
///                    the ranks differ
///
/// Hsu, Qi and Brown, 2019, arXiv:1909.06335, section 3.  Depends on `seed` alone.  Throws
/// UsageError for more ranks than samples.
std::vector<std::vector<std::int64_t>> split_samples(const std::vector<std::int64_t>& groups,
                                                     const std::string& split, int ranks,
                                                     std::uint64_t seed);

/// The numbers, within a shard of `samples`, that a rank trains on in a step: it goes through
/// random permutations of its shard, one after the other.
class BatchOrder {
 public:
  BatchOrder(std::int64_t samples, int batch, std::uint64_t seed, int rank);

  std::vector<std::int64_t> of(std::int64_t step);

 private:
  const std::vector<std::int64_t>& permutation(std::int64_t epoch);

  std::int64_t samples_;
  int batch_;
  std::uint64_t seed_;
  int rank_;
  std::int64_t epoch_ = -1;  // which permutation is kept
  std::vector<std::int64_t> kept_;
};

/// The least mean loss of a linear regression without regularization, half the mean squared error,
/// on all of `samples`; with an intercept.
double least_loss(const Samples& samples);

}  // namespace paceline::networks
