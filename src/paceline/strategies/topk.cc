// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sparse_buckets.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// The values of largest magnitude in each bucket cross, with their places;
/// what stays behind is added to the next step's gradient (error feedback).
///
///   bytes sent     (P-1) k 8 a rank and bucket in float32, k = max(1, density
///                  of the bucket's n values, rounded down)
///   extra memory   one residual a parameter, (1 + P) k 8 bytes
///   guarantee      every rank has the same sum of the parts that crossed; the
///                  gradient is compressed
///
/// Each rank chooses by the magnitude of its own gradient and residual; of
/// equal magnitudes the lower place is taken, not a number counts as largest.
/// A part of a bucket sends its share of the bucket's k.  The residual lies in
/// the layout of the parameters, so other buckets find it where it was.
/// Stich et al., NeurIPS 2018, arXiv:1809.07599; Lin et al., ICLR 2018,
/// arXiv:1712.01887.
class TopK final : public CodecRule {
 public:
  explicit TopK(double density) : sparse_(density) {}

  WireFormat format(const PlanInput& input) const override {
    return {.type = input.model.dtype, .combination = Combination::kGather};
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>& buckets,
              SetupBuilder& builder) const override {
    add_residual(input, "topk", builder);
    const DType type = input.model.dtype;
    const Elements kept = sparse_.kept(buckets, input.model);
    builder.add_buffer({.name = kMyValues, .dtype = type, .elements = kept});
    builder.add_buffer(
        {.name = kMyPlaces, .dtype = DType::kI32, .elements = kept});
  }

  void add_gathered(const PlanInput& input,
                    const std::vector<Bucket>& buckets,
                    SetupBuilder& builder) const override {
    const Elements all = input.world * sparse_.kept(buckets, input.model);
    builder.add_buffer(
        {.name = kAllValues, .dtype = input.model.dtype, .elements = all});
    builder.add_buffer(
        {.name = kAllPlaces, .dtype = DType::kI32, .elements = all});
  }

  std::optional<Contraction> contraction(const ModelShape&) const override {
    return Contraction{.share = sparse_.density()};
  }

  std::vector<WireSlice> wire_slices(const Slice& slice,
                                     int,
                                     const Program& program) const override {
    const Parts parts = parts_of(slice, program);
    if (parts.values.count == 0) {
      return {};
    }
    WireFormat places = format(program.input());
    places.type = DType::kI32;
    return {{.format = format(program.input()),
             .of = slice,
             .mine = parts.values,
             .all = parts.all_values},
            {.format = places,
             .of = slice,
             .mine = parts.places,
             .all = parts.all_places}};
  }

  void encode(const Slice& slice, int, Program& program) const override {
    const Parts parts = parts_of(slice, program);
    const Slice residual = residual_of(slice, program);
    if (parts.values.count == 0) {
      program.kernel("linear", {{slice}, {residual}}, {{residual}}, {1, 1});
      return;
    }
    program.kernel("topk",
                   {{slice}, {residual}},
                   {{parts.values}, {parts.places}, {residual}});
  }

  void decode_from(const std::vector<Slice>& forms,
                   const Slice& slice,
                   Program& program) const override {
    std::vector<Access> reads;
    for (const Slice& form : forms) {
      reads.push_back({form});
    }
    program.kernel("scatter", std::move(reads), {{slice}});
  }

 private:
  static constexpr auto kMyValues = "topk_values";
  static constexpr auto kMyPlaces = "topk_places";
  static constexpr auto kAllValues = "topk_all_values";
  static constexpr auto kAllPlaces = "topk_all_places";

  struct Parts {
    Slice values, places, all_values, all_places;
  };

  Parts parts_of(const Slice& slice, const Program& program) const {
    const SparseBuckets::Range range = sparse_.range_of(slice, program);
    const auto mine = [&](const char* buffer) {
      return Slice{
          buffer_named(program.setup(), buffer), range.begin, range.count};
    };
    const Slice values = mine(kMyValues), places = mine(kMyPlaces);
    return {.values = values,
            .places = places,
            .all_values = gathered_in(kAllValues, values, program),
            .all_places = gathered_in(kAllPlaces, places, program)};
  }

  SparseBuckets sparse_;
};

}  // namespace

std::unique_ptr<CodecRule> make_topk(const Options& options) {
  return std::make_unique<TopK>(options.fraction("density"));
}

}  // namespace paceline::strategies
