// SPDX-License-Identifier: Apache-2.0
// Derives the shapes that the torch-free half reads from the torch modules.
// PACELINE_UPDATE_GOLDEN=1 in the environment rewrites the file of shapes.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paceline/networks/batch.h"
#include "paceline/networks/layer.h"
#include "paceline/networks/network.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/runtime/hooks.h"
#include "paceline/runtime/shape.h"

namespace paceline::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile =
    PACELINE_SOURCE_DIR "/src/paceline/plan/networks/trained.json";
constexpr double kBytesPerElement = 4;

/// One ATen operation that a module or the network itself calls.
struct Operation final : at::ObserverContext {
  std::string name;
  double inputs = 0;    // elements
  double products = 0;  // multiplications per output element
};

/// Adds up the work of one forward pass by module: an operation counts to the
/// module that was entered last.
///
/// Elementwise operations and pooling count on images (4 dimensions) only.
/// Those on vectors are negligible beside the weights of a linear layer.
class WorkRecorder final : public networks::Gates {
 public:
  explicit WorkRecorder(std::size_t modules) : work_(modules) {
    active_ = this;
    callback_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&WorkRecorder::begin, &WorkRecorder::end)
            .needsInputs(true)
            .needsOutputs(true)
            .scopes({at::RecordScope::FUNCTION}));
  }
  ~WorkRecorder() override {
    at::removeCallback(callback_);
    active_ = nullptr;
  }
  WorkRecorder(const WorkRecorder&) = delete;
  WorkRecorder& operator=(const WorkRecorder&) = delete;

  void enter(plan::ModuleId module) override {
    current_ = plan::index_of(module);
  }
  void leave(plan::ModuleId /*module*/) override {}
  bool gates_backward(plan::ModuleId /*module*/) const override {
    return false;
  }
  void enter_backward(plan::ModuleId /*module*/) override {}

  const plan::LayerWork& work(std::size_t module) const {
    return work_.at(module);
  }
  int leaf_calls() const { return leaf_calls_; }

 private:
  /// Operations inside another operation are part of that one.
  static std::unique_ptr<at::ObserverContext> begin(
      const at::RecordFunction& function) {
    if (active_->depth_++ > 0) {
      return nullptr;
    }
    auto operation = std::make_unique<Operation>();
    operation->name = function.name();
    const auto inputs = function.inputs();
    // bias + input * weight, and input, weight, ...
    const bool product = operation->name == "aten::addmm";
    const at::Tensor& input = inputs[product ? 1 : 0].toTensor();
    operation->inputs = static_cast<double>(input.numel());
    if (product) {
      operation->products = static_cast<double>(input.size(1));
    } else if (operation->name == "aten::conv2d") {
      const at::Tensor& weight = inputs[1].toTensor();
      operation->products =
          static_cast<double>(weight.numel() / weight.size(0));
    }
    return operation;
  }

  static void end(const at::RecordFunction& function,
                  at::ObserverContext* context) {
    --active_->depth_;
    if (context != nullptr) {
      active_->add(*static_cast<const Operation*>(context),
                   function.outputs().at(0).toTensor());
    }
  }

  void add(const Operation& operation, const at::Tensor& output) {
    const std::string_view name = operation.name;
    const auto outputs = static_cast<double>(output.numel());
    const bool image = output.dim() == 4;
    if (name == "aten::flatten" || name == "aten::t") {
      return;
    }
    leaf_calls_ += name == "aten::add_" ? 0 : 1;
    if (name == "aten::conv2d" || name == "aten::addmm") {
      add(2 * operation.products * outputs, operation.inputs + outputs);
    } else if (name == "aten::batch_norm") {
      // Reads twice (statistics, then values) and writes once.
      add(8 * outputs, 3 * outputs);
    } else if (name == "aten::relu_") {
      add(image ? outputs : 0, image ? 2 * outputs : 0);
    } else if (name == "aten::add_") {
      add(image ? outputs : 0, image ? 3 * outputs : 0);
    } else if (name == "aten::max_pool2d") {
      add(operation.inputs, operation.inputs + outputs);
    } else if (name == "aten::adaptive_avg_pool2d") {
      // To the size that the image has already, nothing is averaged.
      const bool averages = operation.inputs > outputs;
      add(averages ? operation.inputs : 0, averages ? operation.inputs : 0);
    } else {
      EXPECT_EQ(name, "aten::dropout") << "an operation without a rule";
    }
  }

  void add(double flops, double elements) {
    work_.at(current_).flops += flops;
    work_.at(current_).bytes += kBytesPerElement * elements;
  }

  static thread_local WorkRecorder* active_;
  at::CallbackHandle callback_ = 0;
  int depth_ = 0;
  std::size_t current_ = 0;
  int leaf_calls_ = 0;
  std::vector<plan::LayerWork> work_;
};

thread_local WorkRecorder* WorkRecorder::active_ = nullptr;

/// The kind of a layer, and a convolution's kernel, stride and groups.
std::pair<std::string, Json> kind_of(const networks::Gated* layer) {
  if (const auto* conv = dynamic_cast<const torch::nn::Conv2dImpl*>(layer)) {
    return {"convolution",
            {conv->options.kernel_size()->at(0),
             conv->options.stride()->at(0),
             conv->options.groups()}};
  }
  if (dynamic_cast<const torch::nn::BatchNorm2dImpl*>(layer) != nullptr) {
    return {"normalization", Json::array()};
  }
  if (dynamic_cast<const torch::nn::LinearImpl*>(layer) != nullptr) {
    return {"linear", Json::array()};
  }
  throw std::logic_error("no kind for this layer");
}

/// The parameters of one module by their names inside the module.
Json parameters_of(const plan::ModelShape& shape, std::size_t module) {
  Json parameters = Json::object();
  for (const plan::ParameterShape& parameter : shape.parameters) {
    if (plan::index_of(parameter.module) == module) {
      parameters[parameter.name.substr(shape.modules[module].size() + 1)] =
          parameter.sizes;
    }
  }
  return parameters;
}

/// shape_files.h describes the text; one module is one line.
std::string shape_text(const TracedNetwork& traced,
                       const WorkRecorder& recorder) {
  std::string text = "\"" + traced.shape.name + "\": {\"leaf_calls\": " +
                     std::to_string(recorder.leaf_calls()) +
                     ", \"modules\": [\n";
  for (std::size_t m = 0; m < traced.shape.modules.size(); ++m) {
    const plan::LayerWork& work = recorder.work(m);
    const auto [kind, window] = kind_of(traced.gated.at(m));
    const Json line{traced.shape.modules[m],
                    kind,
                    static_cast<std::int64_t>(work.flops),
                    static_cast<std::int64_t>(work.bytes),
                    window,
                    parameters_of(traced.shape, m)};
    text += (m == 0 ? "" : ",\n") + line.dump();
  }
  return text + "]}";
}

std::string derived_text(const networks::NetworkInfo& info) {
  const networks::Batch batch = networks::make_batch(info, {.batch_size = 1});
  const TracedNetwork traced =
      trace(networks::make_network(info, {}, 0), std::string(info.name), batch);
  const auto module_of = [&](plan::ParameterId id) {
    return traced.shape.parameters[plan::index_of(id)].module;
  };
  EXPECT_TRUE(std::ranges::is_sorted(
      traced.shape.ready_order, std::ranges::greater{}, module_of))
      << info.name << ": gradients are not ready in the reverse order";
  const at::NoGradGuard no_grad;
  WorkRecorder recorder(traced.gated.size());
  const BoundGates bound(traced.gated, recorder);
  traced.network->forward(batch.input);
  return shape_text(traced, recorder);
}

TEST(NetworkShapes, AreThoseOfTheTorchModules) {
  std::string text = "{\n";
  for (const networks::NetworkInfo& info : networks::networks()) {
    text += (text.size() == 2 ? "" : ",\n") + derived_text(info);
  }
  text += "\n}\n";
  if (std::getenv("PACELINE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kFile, std::ios::binary) << text;
    GTEST_FAIL() << "rewrote " << kFile << "; look at the difference";
  }
  std::ostringstream stored;
  stored << std::ifstream(kFile, std::ios::binary).rdbuf();
  EXPECT_TRUE(text == stored.str())
      << kFile << " is out of date: PACELINE_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace
}  // namespace paceline::runtime
