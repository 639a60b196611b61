// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The generated file of this folder, which the build puts into the program.
//
//   {"resnet50": {"leaf_calls": 158, "modules": [
//     ["conv1", "convolution", 236027904, 3813376, [7, 2, 1],
//      {"weight": [64, 3, 7, 7]}], ...]}, ...}
//
// A module has a name, a kind, the flops and bytes of LayerWork, a
// convolution's kernel, stride and groups (else []), and the sizes of its
// parameters in registration order.  Modules are in forward order.  Gradients
// become final in the reverse order.  (Inside a convolution or batch norm
// autograd ends weight and bias at the same time, weight first.)

namespace paceline::plan {

extern const std::string_view kTrainedShapes;  // trained.json

}  // namespace paceline::plan
