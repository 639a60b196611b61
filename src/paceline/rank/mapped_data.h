// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/case/case.h"
#include "paceline/networks/batch.h"
#include "paceline/networks/data.h"
#include "paceline/plan/sample_file.h"

namespace paceline::rank {

/// The batches of a rank from a memory-mapped file of decoded images.  While a step trains, a
/// thread reads the next batch and converts it to float32 in the range 0 to 1.
class MappedData {
 public:
  /// Throws UsageError if the file cannot be read.
  MappedData(const cases::Case& configuration, at::Device device, at::ScalarType dtype);
  ~MappedData();
  MappedData(const MappedData&) = delete;
  MappedData& operator=(const MappedData&) = delete;

  /// Returns a batch of the first images, with which a network is traced.
  networks::Batch probe() const;

  /// Gives this rank its part of the file, which is split equally among the ranks that train.
  /// Throws UsageError if a part is smaller than a batch.
  void deal(int ranks, int rank);

  /// Returns this rank's batch of a step.  The batches go through the rank's part in random orders.
  /// Waits until the batch is read.  Steps must be asked for one after the other, from 0.
  networks::Batch batch(std::int64_t step);

 private:
  networks::Samples read(const std::vector<std::int64_t>& numbers) const;
  networks::Batch on_device(const networks::Samples& samples) const;
  void prefetch(std::int64_t step);

  const cases::Case& configuration_;
  at::Device device_;
  at::ScalarType dtype_;
  plan::SampleFile file_;
  const unsigned char* bytes_ = nullptr;
  std::int64_t first_ = 0;  // first image of this rank's part
  std::optional<networks::BatchOrder> order_;
  std::future<networks::Samples> next_;  // last member: its thread reads the others
};

}  // namespace paceline::rank
