// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/networks/layers.h"

namespace paceline::plan {

LayerWork convolution(const Feature& in,
                      const Feature& out,
                      const Window& window) {
  const double taps = static_cast<double>(in.channels) / window.groups *
                      window.kernel * window.kernel;
  return {.kind = LayerKind::kConvolution,
          .flops = 2 * taps * out.elements(),
          .bytes = in.bytes() + out.bytes(),
          .kernel = window.kernel,
          .stride = window.stride,
          .groups = window.groups};
}

LayerWork normalization(const Feature& at) {
  return {.kind = LayerKind::kNormalization,
          .flops = 8 * at.elements(),
          .bytes = 3 * at.bytes()};
}

LayerWork linear(int in, int out) {
  return {.kind = LayerKind::kLinear,
          .flops = 2.0 * in * out,
          .bytes = kActivationBytes * (in + out)};
}

void elementwise(ShapeBuilder& builder, const Feature& at, double passes) {
  builder.also(at.elements(), passes * at.bytes());
}

}  // namespace paceline::plan
