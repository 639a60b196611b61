// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/networks/shape_builder.h"

namespace paceline::plan {

/// A stack of images: channels and side.
struct Feature {
  int channels = 0;
  int side = 0;

  double elements() const {
    return static_cast<double>(channels) * side * side;
  }
  double bytes() const { return elements() * kActivationBytes; }
};

struct Window {
  int kernel = 1;
  int stride = 1;
  int groups = 1;
};

LayerWork convolution(const Feature& in,
                      const Feature& out,
                      const Window& window);

/// Batch norm reads twice (statistics, then values) and writes once; 8
/// operations an element.
LayerWork normalization(const Feature& at);

LayerWork linear(int in, int out);

/// Rectifying in place, pooling, adding: an operation an element, bytes moved.
void elementwise(ShapeBuilder& builder, const Feature& at, double passes);

}  // namespace paceline::plan
