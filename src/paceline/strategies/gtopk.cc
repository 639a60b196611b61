// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sparse_buckets.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Each rank selects as topk does; then ranks merge what they selected in log2
/// P rounds, by pairs that lie 1, 2, 4, ... apart, and of each merge the values
/// of largest magnitude go on, as many as one rank selected.  What a merge
/// drops of a rank's own values returns to its residual.
///
///   rounds         log2 P
///   bytes sent     log2 P k 8 a rank and bucket in float32, k as for topk
///   extra memory   one residual a parameter, 3 k 8 bytes
///   guarantee      every rank has the same k values; the gradient is
///                  compressed
///
/// Both ranks of a pair merge the same operands in the same order.  The number
/// of ranks is a power of two.  Shi et al., ICDCS 2019, arXiv:1901.04359.
class GTopK final : public CodecRule {
 public:
  explicit GTopK(double density) : sparse_(density) {}

  WireFormat format(const PlanInput& input) const override {
    return {.type = input.model.dtype, .combination = Combination::kPairs};
  }

  int rounds(const PlanInput& input) const override {
    return static_cast<int>(
               std::bit_width(static_cast<std::uint32_t>(input.world))) -
           1;
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>& buckets,
              SetupBuilder& builder) const override {
    if (!std::has_single_bit(static_cast<std::uint32_t>(input.world))) {
      throw UsageError(
          fmt::format("gtopk merges what ranks select by pairs, so it wants a "
                      "power of two of them, and there are {}; take topk",
                      input.world));
    }
    add_residual(input, "gtopk", builder);
    const Elements kept = sparse_.kept(buckets, input.model);
    for (const Names& names : {kOwn, kMerged, kTheirs}) {
      builder.add_buffer(
          {.name = names.values, .dtype = input.model.dtype, .elements = kept});
      builder.add_buffer(
          {.name = names.places, .dtype = DType::kI32, .elements = kept});
    }
  }

  std::vector<WireSlice> wire_slices(const Slice& slice,
                                     int round,
                                     const Program& program) const override {
    const Parts mine = parts_of(slice, round == 0 ? kOwn : kMerged, program);
    const Parts theirs = parts_of(slice, kTheirs, program);
    if (mine.values.count == 0) {
      return {};
    }
    const Rank peer = program.input().rank ^ (1 << round);
    WireFormat places = format(program.input());
    places.type = DType::kI32;
    return {{.format = format(program.input()),
             .of = slice,
             .mine = mine.values,
             .all = theirs.values,
             .peer = peer},
            {.format = places,
             .of = slice,
             .mine = mine.places,
             .all = theirs.places,
             .peer = peer}};
  }

  void encode(const Slice& slice, int round, Program& program) const override {
    if (round > 0) {
      merge(slice, round - 1, program);
      return;
    }
    const Parts own = parts_of(slice, kOwn, program);
    const Slice residual = residual_of(slice, program);
    if (own.values.count == 0) {
      program.kernel("linear", {{slice}, {residual}}, {{residual}}, {1, 1});
    } else {
      program.kernel("topk",
                     {{slice}, {residual}},
                     {{own.values}, {own.places}, {residual}});
    }
  }

  void decode(const Slice& slice, Program& program) const override {
    merge(slice, rounds(program.input()) - 1, program);
    const Parts merged = parts_of(slice, kMerged, program);
    if (merged.values.count == 0) {
      program.kernel("scatter", {}, {{slice}});
    } else {
      program.kernel("scatter", {{merged.values}, {merged.places}}, {{slice}});
    }
  }

 private:
  struct Names {
    const char* values;
    const char* places;
  };
  static constexpr Names kOwn{"gtopk_values", "gtopk_places"};
  static constexpr Names kMerged{"gtopk_merged_values", "gtopk_merged_places"};
  static constexpr Names kTheirs{"gtopk_their_values", "gtopk_their_places"};

  struct Parts {
    Slice values, places;
  };

  Parts parts_of(const Slice& slice,
                 const Names& names,
                 const Program& program) const {
    const auto [begin, count] = sparse_.range_of(slice, program);
    const Setup& setup = program.setup();
    return {.values = {buffer_named(setup, names.values), begin, count},
            .places = {buffer_named(setup, names.places), begin, count}};
  }

  /// Appends the merge of what a round has brought.
  void merge(const Slice& slice, int round, Program& program) const {
    const Parts own = parts_of(slice, kOwn, program);
    const Parts mine = round == 0 ? own : parts_of(slice, kMerged, program);
    const Parts theirs = parts_of(slice, kTheirs, program);
    const Parts merged = parts_of(slice, kMerged, program);
    if (own.values.count == 0) {
      return;
    }
    const bool first = (program.input().rank >> round & 1) == 0;
    const Parts& left = first ? mine : theirs;
    const Parts& right = first ? theirs : mine;
    const Slice residual = residual_of(slice, program);
    program.kernel(
        "gtopk_merge",
        {{left.values},
         {left.places},
         {right.values},
         {right.places},
         {own.values},
         {own.places},
         {residual}},
        {{merged.values}, {merged.places}, {own.values}, {residual}});
  }

  SparseBuckets sparse_;
};

}  // namespace

std::unique_ptr<CodecRule> make_gtopk(const Options& options) {
  return std::make_unique<GTopK>(options.fraction("density"));
}

}  // namespace paceline::strategies
