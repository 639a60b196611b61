// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

// The codecs, in the order `paceline list` prints them.
namespace paceline::strategies {
namespace {

constexpr std::array kTopKOptions{
    OptionInfo{"density",
               "0.01",
               "share of a bucket's values that cross, above 0, at most 1; at "
               "least one value",
               OptionKind::kFraction},
};

constexpr std::array kCodecs{
    Row<CodecRule>{{.name = "identity",
                    .summary = "values cross as they are",
                    .paper = "",
                    .options = {},
                    .bytes = "4 a float32 value"},
                   make_identity},
    Row<CodecRule>{{.name = "fp16",
                    .summary = "sums cross in IEEE half precision",
                    .paper = "Jia et al., 2018, arXiv:1807.11205",
                    .guarantee = Guarantee::kRounded,
                    .options = {},
                    .phases = "cast; cast back",
                    .bytes = "2 a value",
                    .file = "half.cc"},
                   make_fp16},
    Row<CodecRule>{{.name = "bf16",
                    .summary = "sums cross in bfloat16",
                    .paper = "Kalamkar et al., 2019, arXiv:1905.12322",
                    .guarantee = Guarantee::kRounded,
                    .options = {},
                    .phases = "cast; cast back",
                    .bytes = "2 a value",
                    .file = "half.cc"},
                   make_bf16},
    Row<CodecRule>{{.name = "sign",
                    .summary = "one bit a value: the majority's sign",
                    .paper = "Bernstein et al., ICML 2018, arXiv:1802.04434",
                    .guarantee = Guarantee::kCompressed,
                    .options = {},
                    .phases = "signs; vote, spread signs",
                    .bytes = "(P-1) S/32; ps: S/32 in place of S"},
                   make_sign},
    Row<CodecRule>{{.name = "topk",
                    .summary = "the largest values, with error feedback",
                    .paper = "Stich et al., NeurIPS 2018, arXiv:1809.07599",
                    .guarantee = Guarantee::kCompressed,
                    .options = kTopKOptions,
                    .phases = "select; add at their places",
                    .bytes = "(P-1) 8 k, k = density S/4"},
                   make_topk},
};

}  // namespace

std::span<const Row<CodecRule>> codecs() {
  return kCodecs;
}

}  // namespace paceline::strategies
