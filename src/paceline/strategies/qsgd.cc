// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/byte_codec.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr std::int64_t kMostLevels = 127;  // a code from -127 to 127 fits in a byte
constexpr std::int64_t kLeastBlock = 64;   // values; leaves room for a slice's norms
constexpr std::int64_t kNormBytes = 4;

/// Each value is sent as a whole number of levels in one byte, rounded up or down at random so that
/// the expectation is right.  A level is the L2 norm of the value's block over the number of
/// levels; norms are sent in float32.  The mean over the ranks is applied.
///
///   bytes sent     (P-1) (n + 4 b) per rank and bucket of n values, b blocks of
///                  it, rounded up
///   extra memory   20 (1 + P) bytes for every 16 values in float32
///   guarantee      every rank has the same sum, whose expectation is that of
///                  the gradients; the gradient is compressed
///
/// Random numbers depend only on the job's seed, the step, the op and the rank.  Alistarh et al.,
/// NeurIPS 2017, arXiv:1610.02132, section 3.1.
class Qsgd final : public ByteCodec {
 public:
  Qsgd(std::int64_t levels, std::int64_t block)
      : ByteCodec("qsgd", [](Elements piece) { return piece + kNormBytes; }),
        levels_(levels),
        block_(block) {}

  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override {
    if (input.loss_scaling) {
      throw UsageError(
          "qsgd has no code for what overflows, which loss scaling must see; take another dtype or "
          "another codec");
    }
    ByteCodec::extend_setup(input, builder);
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int,
                                     const Program& program) const override {
    const Elements blocks = (slice.count + block_ - 1) / block_;
    return {wire_slice(slice, slice.count + kNormBytes * blocks, program)};
  }

  void encode(const Slice& slice, int round, Program& program) const override {
    std::vector<double> numbers = form();
    numbers.push_back(program.input().rank);
    program.kernel("qsgd", {{slice}}, {{wire_slices(slice, round, program)[0].mine}},
                   std::move(numbers));
  }

  /// The code is unbiased with variance (tau - 1) |x|^2, so C(x) / tau is a contraction: lemma 3.1
  /// of the paper, and example (iii) of arXiv:1902.00340.
  std::optional<Contraction> contraction(const ModelShape&) const override {
    const auto block = static_cast<double>(block_);
    const auto levels = static_cast<double>(levels_);
    const double tau = 1 + std::min(block / (levels * levels), std::sqrt(block) / levels);
    return Contraction{.share = 1 / tau, .factor = 1 / tau};
  }

  void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                   Program& program) const override {
    program.kernel("qsgd_sum", {{forms[0]}}, {{slice}}, form());
  }

 private:
  std::vector<double> form() const {
    return {static_cast<double>(levels_), static_cast<double>(block_)};
  }

  std::int64_t levels_, block_;
};

}  // namespace

std::unique_ptr<CodecRule> make_qsgd(const Options& options) {
  const std::int64_t levels = options.count("levels");
  const std::int64_t block = options.count("block");
  if (levels < 1 || levels > kMostLevels) {
    throw UsageError(
        fmt::format("strategy option qsgd:levels={}: a whole number from 1 to {} is wanted, so "
                    "that a code fits in a byte",
                    levels, kMostLevels));
  }
  if (block < kLeastBlock) {
    throw UsageError(fmt::format(
        "strategy option qsgd:block={}: a whole number from {} on is wanted", block, kLeastBlock));
  }
  return std::make_unique<Qsgd>(levels, block);
}

}  // namespace paceline::strategies
