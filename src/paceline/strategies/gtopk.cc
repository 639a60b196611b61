// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sparse_codec.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Each rank selects values as topk does.  Then ranks merge their selections in log2 P rounds, by
/// pairs that lie 1, 2, 4, ... apart.  Each merge keeps the values of largest magnitude, as many as
/// one rank selected.  If a merge drops values of a rank, they return to the rank's residual.
///
///   rounds         log2 P
///   bytes sent     8 k log2 P per rank and bucket in float32, k as for topk
///   extra memory   a residual as large as the model, 24 k bytes
///   guarantee      every rank has the same k values; the gradient is
///                  compressed
///
/// Both ranks of a pair merge the same operands in the same order.  The number of ranks is a power
/// of two.  Shi et al., ICDCS 2019, arXiv:1901.04359.
class GTopK final : public SparseCodec {
 public:
  explicit GTopK(double density)
      : SparseCodec("gtopk", Combination::kPairs, density, {kOwn, kMerged, kTheirs}) {}

  int rounds(const PlanInput& input) const override {
    return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(input.world))) - 1;
  }

  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override {
    if (!std::has_single_bit(static_cast<std::uint32_t>(input.world))) {
      throw UsageError(
          fmt::format("gtopk merges what ranks select by pairs, so it wants a power of two of "
                      "them, and there are {}; take topk",
                      input.world));
    }
    SparseCodec::extend_setup(input, builder);
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int round,
                                     const Program& program) const override {
    return selected_slices(slice, selection(round == 0 ? kOwn : kMerged, slice, program),
                           selection(kTheirs, slice, program), program,
                           program.input().rank ^ (1 << round));
  }

  void encode(const Slice& slice, int round, Program& program) const override {
    if (round > 0) {
      merge(slice, round - 1, program);
    } else {
      select("topk", slice, selection(kOwn, slice, program), program);
    }
  }

  void decode(const Slice& slice, Program& program) const override {
    merge(slice, rounds(program.input()) - 1, program);
    scatter(selection(kMerged, slice, program), slice, program);
  }

 private:
  static constexpr std::string_view kOwn = "gtopk", kMerged = "gtopk_merged",
                                    kTheirs = "gtopk_their";

  /// Appends the kernel that merges this rank's selection with the one received in `round`.
  void merge(const Slice& slice, int round, Program& program) const {
    const Selection own = selection(kOwn, slice, program);
    const Selection mine = round == 0 ? own : selection(kMerged, slice, program);
    const Selection theirs = selection(kTheirs, slice, program);
    const Selection merged = selection(kMerged, slice, program);
    if (own.values.count == 0) {
      return;
    }
    const bool first = (program.input().rank >> round & 1) == 0;
    const Selection& left = first ? mine : theirs;
    const Selection& right = first ? theirs : mine;
    const Slice residual = residual_of(slice, program);
    program.kernel("gtopk_merge",
                   {{left.values},
                    {left.places},
                    {right.values},
                    {right.places},
                    {own.values},
                    {own.places},
                    {residual}},
                   {{merged.values}, {merged.places}, {own.values}, {residual}});
  }
};

}  // namespace

std::unique_ptr<CodecRule> make_gtopk(const Options& options) {
  return std::make_unique<GTopK>(options.number("density"));
}

}  // namespace paceline::strategies
