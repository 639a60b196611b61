// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/networks/batch.h"
#include "paceline/plan/data_traits.h"

namespace paceline::networks {

/// Samples of a data set, on the CPU.  inputs: [n, channels, side, side] float; targets: [n] int64
/// classes, or [n] float for a regression.
struct Samples {
  at::Tensor inputs, targets;

  std::int64_t count() const { return inputs.size(0); }

  /// Returns the samples with these indices.
  Samples take(const std::vector<std::int64_t>& numbers) const;
};

struct DataSet {
  Samples train, test;
  /// Shape [n]: each training sample's class (in a regression, its group), by which an uneven split
  /// assigns samples to ranks.
  std::vector<std::int64_t> groups;
};

/// Reads or generates the data that --data names, one of plan::kData.  Generated data depends only
/// on `seed`.  Throws UsageError for missing or damaged files.
DataSet load_data(const std::string& data, std::uint64_t seed);

/// Returns the indices of each rank's training samples, floor(n / ranks) per rank:
///
///   even             a random permutation, dealt to the ranks in turn
///   dirichlet:ALPHA  each rank draws its share of every group from a Dirichlet
///                    distribution with parameter ALPHA for every group, then
///                    samples from these shares without replacement: the smaller
///                    ALPHA, the more the ranks differ
///
/// Hsu, Qi and Brown, 2019, arXiv:1909.06335, section 3.  The result depends only on `seed`.
/// Throws UsageError if there are more ranks than samples.
std::vector<std::vector<std::int64_t>> split_samples(const std::vector<std::int64_t>& groups,
                                                     const std::string& split, int ranks,
                                                     std::uint64_t seed);

/// Chooses the samples on which a rank trains in each step. The rank goes through random
/// permutations of its shard, which has `samples` samples, one after the other.
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
  std::int64_t epoch_ = -1;  // the epoch whose permutation is in kept_
  std::vector<std::int64_t> kept_;
};

/// Returns the least mean loss, half the mean squared error, that a linear regression with an
/// intercept and without regularization reaches on all of `samples`.
double least_squares_loss(const Samples& samples);

}  // namespace paceline::networks
