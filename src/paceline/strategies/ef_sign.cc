// SPDX-License-Identifier: Apache-2.0
#include <numbers>
#include <vector>

#include "paceline/strategies/byte_codec.h"
#include "paceline/strategies/error_feedback.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr std::int64_t kScaleBytes = 4;  // one F32 per tensor

/// A slice is sent as one sign bit per value and one scale per tensor, which is the mean magnitude
/// of the tensor's values.  Decoding multiplies the signs of a tensor by its scale.  The rest is
/// added to the gradient of the next step (error feedback).  The mean over the ranks is applied.
///
///   bytes sent     (P-1) (n/8 + 4 t) per rank and bucket of n values, t tensors
///   extra memory   a residual as large as the model; in float32 6 (1 + P) bytes for
///                  every 16 values
///   guarantee      every rank has the same sum; the gradient is compressed
///
/// Zero counts as +1.  If a schedule cuts a tensor, each part has a scale.  Karimireddy et al.,
/// ICML 2019, arXiv:1901.09847.
class EfSign final : public ByteCodec {
 public:
  EfSign() : ByteCodec("ef_sign", [](Elements piece) { return piece / 8 + kScaleBytes; }) {}

  void extend_setup(const PlanInput& input, SetupBuilder& builder) const override {
    add_residual(input, "ef-sign", builder);
    ByteCodec::extend_setup(input, builder);
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int,
                                     const Program& program) const override {
    const auto tensors = static_cast<Elements>(tensors_in(slice, program).size());
    return {wire_slice(slice, slice.count / 8 + kScaleBytes * tensors, program)};
  }

  void encode(const Slice& slice, int round, Program& program) const override {
    const Slice residual = residual_of(slice, program);
    program.kernel("ef_sign", {{slice}, {residual}},
                   {{wire_slices(slice, round, program)[0].mine}, {residual}},
                   tensor_borders_in(slice, program));
  }

  /// The `share` of the contraction for normally distributed values: (|x|_1)^2 / (n |x|_2^2), which
  /// is 2 / pi.
  std::optional<Contraction> contraction(const ModelShape&) const override {
    return Contraction{.share = 2 / std::numbers::pi, .can_overshoot = true};
  }

  void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                   Program& program) const override {
    program.kernel("ef_sign_sum", {{forms[0]}}, {{slice}}, tensor_borders_in(slice, program));
  }
};

}  // namespace

std::unique_ptr<CodecRule> make_ef_sign(const Options&) { return std::make_unique<EfSign>(); }

}  // namespace paceline::strategies
