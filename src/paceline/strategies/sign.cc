// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// The sign of each value is sent as one bit, and the majority of the ranks decides (signSGD with
/// majority vote).  The result is +1 or -1, the sign of the sum of the signs; zero and ties count
/// as +1.  The result is applied unscaled, so the learning rate is the length of a step in each
/// coordinate.
///
///   bytes sent     for a part of n values: (P-1) n/8 per rank where all gather,
///                  n/8 each way where a server votes;
///                  form=int8: one byte per value, summed: 2 (P-1)/P n per rank
///   extra memory   n/8 bytes, and n/8 bytes per rank on ranks that
///                  count votes;
///                  form=int8: n bytes
///   guarantee      every rank has the same result; the gradient is compressed
///
/// form=int8 sums signs as numbers of one byte, so any exchange that sums can carry them, among at
/// most 127 ranks; the result is the same.  Bernstein et al., ICML 2018, arXiv:1802.04434; the
/// vote: ICLR 2019, arXiv:1810.05291.
class Sign final : public CodecRule {
 public:
  explicit Sign(bool summed) : summed_(summed) {}

  WireFormat format(const PlanInput&) const override {
    if (summed_) {
      return {.type = DType::kI8, .summed = false};
    }
    return {.type = DType::kI8,
            .packed = 8,
            .combination = Combination::kMerge,
            .merge = "vote",
            .summed = false};
  }

  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override {
    if (input.loss_scaling) {
      throw UsageError(
          "sign applies signs, which do not grow with the loss, so the loss cannot be scaled; take "
          "another dtype or another codec");
    }
    if (summed_ && input.world > kMostSummed) {
      throw UsageError(
          fmt::format("sign:form=int8 sums the signs of at most {} ranks in a byte, and there are "
                      "{}; take form=bits",
                      kMostSummed, input.world));
    }
    const Slice values = whole(builder.setup(), kValues);
    builder.add_buffer({.name = kBits, .dtype = DType::kI8, .elements = values.count / packed()});
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int,
                                     const Program& program) const override {
    return {{.format = format(program.input()), .of = slice, .mine = bits_of(slice, program)}};
  }

  void encode(const Slice& slice, int, Program& program) const override {
    program.kernel(summed_ ? "sign8" : "sign", {{slice}}, {{bits_of(slice, program)}});
  }

  /// Decodes tensor by tensor, so that the padding between them stays zero.
  void decode(const Slice& slice, Program& program) const override {
    std::vector<Access> bits, signs;
    for (const Slice& tensor : tensors_in(slice, program)) {
      bits.push_back({bits_of(tensor, program)});
      signs.push_back({tensor});
    }
    program.kernel(summed_ ? "unsign8" : "unsign", std::move(bits), std::move(signs));
  }

 private:
  static constexpr auto kBits = "sign_bits";
  static constexpr Rank kMostSummed = 127;

  Elements packed() const { return summed_ ? 1 : 8; }

  /// The bits of a slice.  Every tensor and every cut begins at a multiple of 8 elements.
  Slice bits_of(const Slice& slice, const Program& program) const {
    PACELINE_CHECK_EQ(slice.begin % packed(), 0);
    return {buffer_named(program.setup(), kBits), slice.begin / packed(),
            (slice.count + packed() - 1) / packed()};
  }

  bool summed_;
};

}  // namespace

std::unique_ptr<CodecRule> make_sign(const Options& options) {
  return std::make_unique<Sign>(options.text("form") == "int8");
}

}  // namespace paceline::strategies
