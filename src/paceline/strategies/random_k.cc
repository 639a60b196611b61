// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sparse_codec.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Values at random indices of each bucket's tensors are sent.  The indices are the same on all
/// ranks, drawn from the job's seed for each step, so they need not be sent, and the values are
/// summed.  The rest is added to the gradient of the next step (error feedback).
///
///   bytes sent     2 (P-1)/P 4 k per rank and bucket in float32, k = max(1,
///                  density of the bucket's n values, rounded down)
///   extra memory   a residual as large as the model, 8 k bytes
///   guarantee      every rank has the same sum of the parts sent; the
///                  gradient is compressed
///
/// Stich et al., NeurIPS 2018, arXiv:1809.07599, definition 2.2.
class RandomK final : public SparseCodec {
 public:
  explicit RandomK(double density)
      : SparseCodec("random-k", Combination::kUncuttableSum, density, {kDrawn}) {}

  std::vector<WireSlice> wire_slices(const Slice& slice, int,
                                     const Program& program) const override {
    const Slice values = selection(kDrawn, slice, program).values;
    if (values.count == 0) {
      return {};
    }
    return {{.format = format(program.input()), .of = slice, .mine = values}};
  }

  void encode(const Slice& slice, int, Program& program) const override {
    select("random_k", slice, selection(kDrawn, slice, program), program,
           tensor_borders_in(slice, program));
  }

  std::optional<Contraction> contraction(const ModelShape&) const override {
    return Contraction{.share = density(), .needs_same_draws = true, .ignores_values = true};
  }

  void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                   Program& program) const override {
    const Slice values = forms.empty() ? Slice{} : forms[0];
    scatter({values, selection(kDrawn, slice, program).places}, slice, program);
  }

 private:
  static constexpr std::string_view kDrawn = "random_k";
};

}  // namespace

std::unique_ptr<CodecRule> make_random_k(const Options& options) {
  return std::make_unique<RandomK>(options.number("density"));
}

}  // namespace paceline::strategies
