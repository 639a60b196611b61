// SPDX-License-Identifier: Apache-2.0
// What the plans of all ranks mean for a network in Python.  The test's extension has this module
// beside `_extension`.
#include "paceline/plan/interpreter.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/extension.h>

#include "model.h"
#include "paceline/plan/plan_world.h"
#include "runtime/tensor_machine.h"

namespace paceline::extension {
namespace {

using Named = std::map<std::string, at::Tensor>;

// Of parameters that are not used: nothing.
using Found = std::map<std::string, std::optional<at::Tensor>>;

/// The gradients of the micro-batches, each computed once.
class Gradients {
 public:
  explicit Gradients(py::function compute) : compute_(std::move(compute)) {}

  /// By name, of what the rank's parameters are now.
  const Found& of(plan::Rank rank, plan::Step step, int micro) {
    Place& last = last_[rank];
    if (last.step != step || last.micro != micro) {
      last = {step, micro, compute_(rank, step, micro).cast<Found>()};
    }
    return last.gradients;
  }

 private:
  struct Place {
    plan::Step step = -1;
    int micro = 0;
    Found gradients;
  };

  py::function compute_;
  std::map<plan::Rank, Place> last_;
};

/// Interprets `steps` steps of all ranks.  `replicas`: the parameters of each rank that trains, by
/// name, which hold the result.  `gradients(rank, step, micro)` computes from them.
void interpret(const Model& model, plan::Step steps, const std::vector<Named>& replicas,
               const py::function& gradients) {
  const rank::Trainer& trainer = model.trainer();
  const plan::PlanWorld plans(trainer.planner(), trainer.input(), steps);
  const auto& shapes = trainer.input().model.parameters;
  const at::Tensor* rate = trainer.memory().scalar(plan::kLearningRate);
  Gradients computed(gradients);
  testing::TensorMachine machine(
      trainer.planner(), plans,
      {.start =
           [&](plan::Rank rank, const plan::ModelShape&) {
             std::vector<at::Tensor> parameters;
             for (const plan::ParameterShape& shape : shapes) {
               parameters.push_back(replicas[static_cast<std::size_t>(rank)].at(shape.name));
             }
             return parameters;
           },
       .gradient =
           [&](plan::Rank rank, plan::Step step, const plan::Backward& work) {
             return computed.of(rank, step, work.micro)
                 .at(shapes[plan::index_of(work.parameter)].name)
                 .value_or(at::Tensor());
           },
       .rule = [&](const plan::ModelShape& shape,
                   const plan::Setup& setup) { return model.settings_of(shape, setup); },
       .learning_rate = rate == nullptr ? 0 : rate->item<double>()});
  plan::interpret(plans, machine);
}

}  // namespace

PYBIND11_MODULE(_interpreter, module) { module.def("interpret", &interpret); }

}  // namespace paceline::extension
