// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "paceline/base/error.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Values are sent and summed in 16 bits.
///
///   bytes sent     half of those in float32
///   extra memory   2 bytes per parameter element
///   guarantee      every rank has the same sum, rounded to 11 (fp16) or 8
///                  (bf16) bits after each addition; fp16 overflows at 65504
///
/// Jia et al., 2018, arXiv:1807.11205; IEEE 754-2019, binary16.
class HalfPrecision final : public CodecRule {
 public:
  HalfPrecision(DType type, std::string buffer) : type_(type), buffer_(std::move(buffer)) {}

  WireFormat format(const PlanInput&) const override { return {.type = type_}; }

  void extend_setup(const PlanInput&, SetupBuilder& builder) const override {
    builder.add_buffer_like_values(buffer_, InitialValue::kZero, type_);
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int,
                                     const Program& program) const override {
    return {{.format = format(program.input()), .of = slice, .mine = wire(slice, program)}};
  }

  void encode(const Slice& slice, int, Program& program) const override {
    program.kernel("cast", {{slice}}, {{wire(slice, program)}});
  }

  /// fp16 has no bound on its relative error, because it loses small values and overflows.
  std::optional<Contraction> contraction(const ModelShape&) const override {
    constexpr double kUnit = 0x1p-8;  // half of bfloat16's spacing at 1
    return type_ == DType::kBF16 ? std::optional(Contraction{.share = 1 - kUnit * kUnit})
                                 : std::nullopt;
  }

  void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                   Program& program) const override {
    program.kernel("cast", {{forms[0]}}, {{slice}});
  }

 private:
  Slice wire(const Slice& slice, const Program& program) const {
    return same_range_in(buffer_, slice, program);
  }

  DType type_;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<CodecRule> make_fp16(const Options&) {
  return std::make_unique<HalfPrecision>(DType::kF16, "wire_fp16");
}

std::unique_ptr<CodecRule> make_bf16(const Options&) {
  return std::make_unique<HalfPrecision>(DType::kBF16, "wire_bf16");
}

}  // namespace paceline::strategies
