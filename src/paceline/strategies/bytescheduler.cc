// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "paceline/strategies/buckets.h"
#include "paceline/strategies/partitions.h"
#include "paceline/strategies/periodic_merge.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/send_queue.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Tensors are cut into partitions; queue=module cuts runs of tensors in ready order that one
/// module reads.  Of the partitions that are ready, the one that the next forward reads first is
/// sent first, and a credit limits the bytes in flight.  A module's next forward waits only for its
/// own tensors.
///
///   rounds per step            one exchange per partition, all independent
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange; the final drain completes
///                              the last step's exchanges and updates
///
/// The sizes of partitions and the credit count transferred bytes, in the codec's form.
///
/// order=program writes the partitions in the order in which such a queue would send them,
/// simulated with the layer times of the profile.  So ranks agree without a message, and the
/// simulator sees the same order.  If the engine performs several exchanges at once, three more
/// orders are simulated, in which partitions are transferred one by one with the whole, half or
/// none of their start-up time; more partitions then wait in the queue.  The order with the
/// shortest predicted step is written.  order=priority leaves
/// the choice to the first rank at run time and needs no profile.  Peng et al., SOSP 2019,
/// doi:10.1145/3341301.3359642.
class ByteScheduler final : public ScheduleRule {
 public:
  ByteScheduler(PartitionLimit partition, std::int64_t credit, IssueOrder order, bool by_module)
      : partition_(std::move(partition)),
        credit_(std::max(credit, std::int64_t{1})),  // with 0, one partition at a time
        order_(order),
        by_module_(by_module) {}

  bool needs_times() const override { return order_ == IssueOrder::kProgram; }

  IssuePolicy issue_policy() const override { return {order_, credit_}; }

  Groups groups(const PlanInput& input, const TransferTime&) const override {
    return by_module_ ? module_groups(input.model) : single_groups(input.model);
  }

  void write(PlanWriter& writer) const override {
    const std::vector<Bucket>& buckets = writer.buckets();
    writer.compute();
    const auto [modules, order] = first_reads_of(writer.program().input().model, buckets);
    for (const auto& [part, bucket] : in_queue_order(modules, writer.program())) {
      writer.start(part, modules[bucket]);
      writer.finish(part, modules[bucket]);
    }
    for (const std::size_t i : order) {
      writer.apply(buckets[i], modules[i]);
    }
  }

 private:
  struct Part {
    Bucket part;
    std::size_t bucket = 0;  // index of the bucket that `part` is cut from
  };

  /// The partitions of all buckets.  The length of each is a multiple of the number of shards, so
  /// exchanges can split each partition again.
  std::vector<Part> partitions_of_buckets(double share, const Program& program) const {
    const std::vector<Bucket>& buckets = program.buckets();
    const std::int64_t size = size_of(program.input().model.dtype);
    const Elements step = kAlignmentBytes / size * program.shards();
    const Elements largest_partition_elements =
        partition_.largest_partition_elements(buckets, step, share * static_cast<double>(size));
    std::vector<Part> parts;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      for (Elements at = 0; at < buckets[i].values.count; at += largest_partition_elements) {
        Part part{buckets[i], i};
        const Elements count = std::min(largest_partition_elements, buckets[i].values.count - at);
        for (Slice* slice : {&part.part.values, &part.part.gradients}) {
          slice->begin += at;
          slice->count = count;
        }
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }

  std::vector<Part> in_queue_order(const std::vector<std::int32_t>& first_read,
                                   const StrategyProgram& program) const {
    const PlanInput& input = program.input();
    const double share = payload_bytes_per_slice_byte(input, program.transfer());
    std::vector<Part> parts = partitions_of_buckets(share, program);
    if (order_ == IssueOrder::kPriority || input.world == 1) {
      return parts;
    }
    const StepTimings step = step_timings_of(input, "bytescheduler");
    // For each bucket, the index in ready order of its last gradient.
    std::vector<std::size_t> last;
    std::size_t tensors = 0;
    for (const Bucket& bucket : program.buckets()) {
      tensors += bucket.parameters.size();
      last.push_back(tensors - 1);
    }
    const std::int64_t size = size_of(input.model.dtype);
    std::vector<QueuedPiece> pieces;
    std::vector<Picoseconds> left;
    for (const Part& part : parts) {
      const StepTensor& tensor = step.tensors[last[part.bucket]];
      pieces.push_back({tensor.ready, first_read[part.bucket], part.part.values.count * size});
      left.push_back(tensor.left);
    }
    std::vector<Part> ordered;
    const TransferTime time = transfer_time(input, program.transfer());
    for (const std::size_t i : best_order(pieces, left, credit_in_gradient_bytes(share), time)) {
      ordered.push_back(parts[i]);
    }
    return ordered;
  }

  /// Converts the credit to bytes of gradients. `share` is the number of encoded bytes that count
  /// against the credit for each byte of a gradient.
  std::int64_t credit_in_gradient_bytes(double share) const {
    constexpr double kMostBytes = 1e18;
    return static_cast<std::int64_t>(std::min(static_cast<double>(credit_) / share, kMostBytes));
  }

  std::vector<std::size_t> best_order(const std::vector<QueuedPiece>& pieces,
                                      const std::vector<Picoseconds>& left, std::int64_t credit,
                                      const TransferTime& time) const {
    std::vector<std::size_t> best = starting_order(pieces, credit, time);
    if (time.is_one_by_one()) {
      return best;
    }
    const auto step_of = [&](const std::vector<std::size_t>& order) {
      const auto ends = ends_in_order(pieces, order, credit, time);
      Picoseconds step = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        step = std::max(step, ends[i] + left[i]);
      }
      return step;
    };
    Picoseconds shortest = step_of(best);
    constexpr int kParts = 2;
    for (int part = 0; part <= kParts; ++part) {
      auto order = starting_order(pieces, credit, [&](std::int64_t bytes) {
        return time(bytes) - time.start(bytes) / kParts * part;
      });
      if (const Picoseconds step = step_of(order); step < shortest) {
        shortest = step;
        best = std::move(order);
      }
    }
    return best;
  }

  PartitionLimit partition_;
  std::int64_t credit_;  // in bytes
  IssueOrder order_;
  bool by_module_;
};

}  // namespace

std::unique_ptr<ScheduleRule> make_bytescheduler(const Options& options) {
  return std::make_unique<ByteScheduler>(
      PartitionLimit("bytescheduler", options), options.bytes_of_mebibytes("credit-mb"),
      options.text("order") == "priority" ? IssueOrder::kPriority : IssueOrder::kProgram,
      options.text("queue") == "module");
}

}  // namespace paceline::strategies
