// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/sharded_embeddings.h"

// Splits a model with embedding bags into the bags and the dense part, for which another planner
// writes the program, and joins the two programs again.

namespace paceline::strategies {

/// The model without its embedding bags, and the parameter and the module that represent the bags.
struct DensePart {
  ParameterId pooled{};  // kPooledParameter, the pooled bags
  ModuleId module{};     // the module of `pooled`, which has no other parameter
  ModelShape dense;
};

/// Throws UsageError unless the last parameter of the model is kPooledParameter.
inline DensePart dense_part_of(const ModelShape& model) {
  const auto bags = std::ranges::find(model.parameters, kPooledParameter, &ParameterShape::name);
  if (bags == model.parameters.end() || bags + 1 != model.parameters.end()) {
    throw UsageError(fmt::format("model '{}' looks up no embedding tables", model.name));
  }
  DensePart parts{.pooled = static_cast<ParameterId>(model.parameters.size() - 1),
                  .module = bags->module,
                  .dense = model};
  parts.dense.parameters.pop_back();
  parts.dense.modules.erase(parts.dense.modules.begin() +
                            static_cast<std::ptrdiff_t>(parts.module));
  std::erase(parts.dense.ready_order, parts.pooled);
  for (ParameterShape& parameter : parts.dense.parameters) {
    if (parameter.module > parts.module) {
      parameter.module = ModuleId{static_cast<std::int32_t>(parameter.module) - 1};
    }
  }
  return parts;
}

/// Appends the program of the dense part, with Forward and Backward of the bags inserted at their
/// positions.  `behind_bags` appends the ops that follow Backward of the bags.
class ProgramJoiner {
 public:
  ProgramJoiner(Program& program, const ModelShape& model, const DensePart& parts)
      : program_(program), parts_(parts) {
    const auto at = std::ranges::find(model.ready_order, parts.pooled);
    if (at != model.ready_order.begin()) {
      last_ready_before_bags_ = *(at - 1);
    }
  }

  template <class Behind>
  void append(const CommPlan& dense, const Behind& behind_bags) {
    std::vector<OpIndex> place;
    for (Op op : dense.ops) {
      for (OpIndex& earlier : op.after) {
        earlier = place[static_cast<std::size_t>(earlier)];
      }
      auto* const forward = std::get_if<Forward>(&op.work);
      const auto* const backward = std::get_if<Backward>(&op.work);
      if (backward != nullptr || (forward != nullptr && forward->module >= parts_.module)) {
        forward_bags();
      }
      if (backward != nullptr && !last_ready_before_bags_) {
        backward_bags(behind_bags);
      }
      if (forward != nullptr && forward->module >= parts_.module) {
        forward->module = ModuleId{static_cast<std::int32_t>(forward->module) + 1};
      }
      const bool last_before =
          backward != nullptr && last_ready_before_bags_ == backward->parameter;
      place.push_back(program_.append(std::move(op)));
      if (last_before) {
        backward_bags(behind_bags);
      }
    }
  }

 private:
  void forward_bags() {
    if (!std::exchange(forward_done_, true)) {
      program_.forward(parts_.module);
    }
  }
  template <class Behind>
  void backward_bags(const Behind& behind) {
    if (!std::exchange(backward_done_, true)) {
      program_.backward(parts_.pooled);
      behind();
    }
  }

  Program& program_;
  const DensePart& parts_;
  std::optional<ParameterId> last_ready_before_bags_;
  bool forward_done_ = false, backward_done_ = false;
};

}  // namespace paceline::strategies
