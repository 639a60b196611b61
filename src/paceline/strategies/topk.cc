// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sparse_codec.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// The values of largest magnitude in each bucket are sent, with their indices.  The rest is added
/// to the gradient of the next step (error feedback).
///
///   bytes sent     8 (P-1) k per rank and bucket in float32, k = max(1, density
///                  of the bucket's n values, rounded down)
///   extra memory   a residual as large as the model, 8 (1 + P) k bytes
///   guarantee      every rank has the same sum of the parts sent; the
///                  gradient is compressed
///
/// Each rank chooses by the magnitude of the sum of its own gradient and residual.  Of equal
/// magnitudes the lower index is chosen; NaN counts as largest.  A part of a bucket sends its part
/// of the bucket's k.  The residual has the layout of the parameters, so a changed set of buckets
/// uses the same residual.  Stich et al., NeurIPS 2018, arXiv:1809.07599; Lin et al., ICLR
/// 2018, arXiv:1712.01887.
class TopK final : public SparseCodec {
 public:
  explicit TopK(double density) : SparseCodec("topk", Combination::kGather, density, {kMine}) {}

  void add_gathered(SetupBuilder& builder) const override {
    add_selection_buffers(kAll, builder, builder.input().world);
  }

  std::optional<Contraction> contraction(const ModelShape&) const override {
    return Contraction{.share = density()};
  }

  std::vector<WireSlice> wire_slices(const Slice& slice, int,
                                     const Program& program) const override {
    const Selection mine = selection(kMine, slice, program);
    return selected_slices(slice, mine,
                           {gathered_slice_in("topk_all_values", mine.values, program),
                            gathered_slice_in("topk_all_places", mine.places, program)},
                           program);
  }

  void encode(const Slice& slice, int, Program& program) const override {
    select("topk", slice, selection(kMine, slice, program), program);
  }

  void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                   Program& program) const override {
    scatter(forms.empty() ? Selection{} : Selection{forms[0], forms[1]}, slice, program);
  }

 private:
  static constexpr std::string_view kMine = "topk", kAll = "topk_all";
};

}  // namespace

std::unique_ptr<CodecRule> make_topk(const Options& options) {
  return std::make_unique<TopK>(options.number("density"));
}

}  // namespace paceline::strategies
