// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sparse_buckets.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Values at random places of each bucket cross, the same places on all ranks,
/// drawn from the job's seed for each step; so no place crosses, and the values
/// are summed.  What stays behind is added to the next step's gradient (error
/// feedback).
///
///   bytes sent     2 (P-1)/P k 4 a rank and bucket in float32, k = max(1,
///                  density of the bucket's n values, rounded down)
///   extra memory   one residual a parameter, k 8 bytes
///   guarantee      every rank has the same sum of the parts that crossed; the
///                  gradient is compressed
///
/// Stich et al., NeurIPS 2018, arXiv:1809.07599, definition 2.2.
class RandomK final : public CodecRule {
 public:
  explicit RandomK(double density) : sparse_(density) {}

  WireFormat format(const PlanInput& input) const override {
    return {.type = input.model.dtype, .combination = Combination::kOwnSum};
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>& buckets,
              SetupBuilder& builder) const override {
    add_residual(input, "random-k", builder);
    const Elements kept = sparse_.kept(buckets, input.model);
    builder.add_buffer(
        {.name = kValuesOf, .dtype = input.model.dtype, .elements = kept});
    builder.add_buffer(
        {.name = kPlacesOf, .dtype = DType::kI32, .elements = kept});
  }

  std::vector<WireSlice> wire_slices(const Slice& slice,
                                     int,
                                     const Program& program) const override {
    const Slice values = in(kValuesOf, slice, program);
    if (values.count == 0) {
      return {};
    }
    return {{.format = format(program.input()), .of = slice, .mine = values}};
  }

  void encode(const Slice& slice, int, Program& program) const override {
    const Slice values = in(kValuesOf, slice, program);
    const Slice residual = residual_of(slice, program);
    if (values.count == 0) {
      program.kernel("linear", {{slice}, {residual}}, {{residual}}, {1, 1});
    } else {
      program.kernel("random_k",
                     {{slice}, {residual}},
                     {{values}, {in(kPlacesOf, slice, program)}, {residual}});
    }
  }

  std::optional<Contraction> contraction(const ModelShape&) const override {
    return Contraction{
        .share = sparse_.density(), .same_draws = true, .blind = true};
  }

  void decode_from(const std::vector<Slice>& forms,
                   const Slice& slice,
                   Program& program) const override {
    if (forms.empty()) {
      program.kernel("scatter", {}, {{slice}});
    } else {
      program.kernel(
          "scatter", {{forms[0]}, {in(kPlacesOf, slice, program)}}, {{slice}});
    }
  }

 private:
  static constexpr auto kValuesOf = "random_k_values";
  static constexpr auto kPlacesOf = "random_k_places";

  Slice in(const char* buffer,
           const Slice& slice,
           const Program& program) const {
    const auto [begin, count] = sparse_.range_of(slice, program);
    return {buffer_named(program.setup(), buffer), begin, count};
  }

  SparseBuckets sparse_;
};

}  // namespace

std::unique_ptr<CodecRule> make_random_k(const Options& options) {
  return std::make_unique<RandomK>(options.fraction("density"));
}

}  // namespace paceline::strategies
