// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/engines/link.h"
#include "paceline/engines/world.h"
#include "paceline/plan/engine_traits.h"

namespace paceline::engines {
class Channel;
class Engine;
struct PeerWait;
}  // namespace paceline::engines

namespace paceline::rank {

/// The types of elements that are measured: fp32, fp64, ...
std::vector<std::string> comm_dtypes();

/// Bytes of one element.  Throws UsageError for a type that is not measured.
std::int64_t element_bytes(std::string_view dtype);

/// What one row of `paceline comm` measures.
struct CommRow {
  std::string operation;
  std::int64_t bytes = 0;

  friend bool operator==(const CommRow&, const CommRow&) = default;
};

/// `bytes` rounded to whole elements, at least one, and to equal shards for an
/// operation of which each of `world` ranks holds a shard.
std::int64_t whole_bytes(std::string_view operation, std::int64_t bytes, std::int64_t element,
                         std::int64_t world);

/// Every operation at every size, in order, rounded as above, each once.
std::vector<CommRow> comm_rows(const std::vector<std::string>& operations,
                               const std::vector<std::int64_t>& sizes, std::string_view dtype,
                               std::int64_t world);

/// The engine, the device and the link that are measured.
struct CommSetting {
  std::string engine{plan::engine_for("cpu").name};
  std::string device = "cpu";
  std::string dtype = "fp32";  // of comm_dtypes()
  std::string interface;       // empty: chosen
  std::string link;            // modelled, "1Gbit,50us"; empty: none
};

/// How often an operation is performed at one size.
struct CommIterations {
  int warmup = 3;
  int measured = 20;
  /// Called on every rank before each iteration and after the last one; it may throw.
  std::function<void(int done, int total)> progress{};
  /// How to wait for the others; null: inside the engine.
  const engines::PeerWait* peers = nullptr;
  /// Whether the values of one more operation are checked.
  bool checks = true;
};

/// The measurements of one rank for one operation at one size.
struct CommSamples {
  std::int64_t bytes = 0;                 // rounded to whole elements and shards
  std::vector<std::int64_t> duration_ns;  // by iteration
  std::int64_t wire_bytes = 0;            // of one operation, by the ledger
  std::int64_t wrong_elements = 0;
  /// What crossed the emulated link in the measured iterations; empty: no link.
  std::vector<engines::LinkedOperation> linked{};
  std::int64_t began_ns = 0;  // the first measured one, this rank's clock
};

/// Performs operations on an engine's channel over the whole world, one after the other.
class CommCases {
 public:
  /// Collective over the world; `name` is new in the job.  `peers`: how to wait until the others
  /// connect.
  CommCases(const engines::World& world, const CommSetting& setting, const std::string& name,
            const engines::PeerWait& peers);
  ~CommCases();

  /// Warms up, measures, and then checks every element of one more operation on values that no
  /// summation rounds.  A barrier before each operation keeps late ranks out of its duration.
  /// Collective.
  CommSamples run(std::string_view operation, std::int64_t bytes, const CommIterations& iterations);

  const std::string& interface() const { return interface_; }

 private:
  CommSetting setting_;  // whose device is this rank's own
  std::shared_ptr<engines::Link> link_;
  std::unique_ptr<engines::Engine> engine_;
  std::unique_ptr<engines::Channel> channel_;
  std::string interface_;
};

/// Measures one of plan::kOperations at one size on `channel`; of messages every rank sends one to
/// the next rank and receives one from the rank before at the same time, as sendrecv of nccl-tests.
/// Looks at no emulated link.
CommSamples measure_operation(engines::Channel& channel, std::string_view operation,
                              std::int64_t bytes, const CommSetting& setting,
                              const CommIterations& iterations);

}  // namespace paceline::rank
