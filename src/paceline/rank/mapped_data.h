// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/networks/batch.h"
#include "paceline/networks/data.h"
#include "paceline/plan/sample_file.h"
#include "paceline/records/configuration.h"

namespace paceline::rank {

/// The batches of a rank from a mapped file of decoded images.  While a step trains, a thread reads
/// the next batch and converts it to float32, 0 to 1.
class MappedData {
 public:
  /// Throws UsageError where the file cannot be read.
  MappedData(const records::Configuration& configuration, at::Device device, at::ScalarType dtype);
  ~MappedData();
  MappedData(const MappedData&) = delete;
  MappedData& operator=(const MappedData&) = delete;

  /// A batch of the first images, to trace a network with.
  networks::Batch probe() const;

  /// Deals equal parts of the file to the ranks that train.  Throws UsageError where a part is less
  /// than a batch.
  void deal(int ranks, int rank);

  /// What this rank trains on in a step, which goes through its part in random orders.  Waits until
  /// it is read; steps come one after the other from 0.
  networks::Batch batch(std::int64_t step);

 private:
  networks::Samples read(const std::vector<std::int64_t>& numbers) const;
  networks::Batch on_device(const networks::Samples& samples) const;
  void prefetch(std::int64_t step);

  const records::Configuration& configuration_;
  at::Device device_;
  at::ScalarType dtype_;
  plan::SampleFile file_;
  const unsigned char* bytes_ = nullptr;
  std::int64_t first_ = 0;  // of this rank's part
  std::optional<networks::BatchOrder> order_;
  std::future<networks::Samples> next_;  // last: it reads what is above
};

}  // namespace paceline::rank
