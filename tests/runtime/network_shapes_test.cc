// SPDX-License-Identifier: Apache-2.0
// Derives the shapes that the torch-free half reads from the torch modules.
// PACELINE_UPDATE_GOLDEN=1 in the environment rewrites the file of shapes.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
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

constexpr const char* kFile = PACELINE_SOURCE_DIR "/python/paceline/adapters/trained.json";
constexpr double kBytesPerElement = 4;

/// One ATen operation that a module or the network itself calls.
struct Operation final : at::ObserverContext {
  std::string name;
  double inputs = 0;    // elements
  double products = 0;  // multiplications per output element
  bool small = false;   // on one vector a sample, or a number
};

/// Operations, and elements read and written, of each output element.
struct Rule {
  double flops = 0, elements = 0;
};

constexpr Rule kNormalization{8, 3};  // reads twice (statistics, then values)
constexpr Rule kEmbedding{1, 3};      // its share of the sum of the embeddings
constexpr Rule kActivation{1, 2};
constexpr Rule kGelu{2, 2};
constexpr Rule kAddition{1, 3};
// Of tokens, whose additions and dropout go through memory three times each.
constexpr Rule kTokenAddition{3, 3};
constexpr Rule kDropout{3, 3};       // writes the values and a mask
constexpr Rule kCrossEntropy{5, 5};  // log-softmax and loss
// An attention score: scale, mask, softmax, dropout between two products.
constexpr Rule kScore{10, 12};

// Which cost nothing.
constexpr auto kViews = std::to_array<std::string_view>(
    {"aten::arange", "aten::flatten", "aten::narrow", "aten::reshape", "aten::select", "aten::t",
     "aten::transpose", "aten::view"});

// PyTorch's modules without children, in networks of its libraries.
constexpr auto kLeaves = std::to_array<std::string_view>(
    {"aten::adaptive_avg_pool2d", "aten::addmm", "aten::batch_norm", "aten::conv2d",
     "aten::dropout", "aten::embedding", "aten::layer_norm", "aten::max_pool2d", "aten::relu_",
     // The dropout of the scores.
     "aten::scaled_dot_product_attention", "aten::tanh"});

bool contains(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Adds up the work of one forward pass and loss by module: an operation counts to the module that
/// was entered last.
///
/// Elementwise operations and pooling count on images (4 dimensions) and on tokens (2 dimensions,
/// several rows a sample) only.  Those on one vector a sample are negligible beside the weights of
/// a linear layer.
class WorkRecorder final : public networks::Gates {
 public:
  explicit WorkRecorder(const std::vector<networks::Gated*>& gated)
      : gated_(gated), work_(gated.size()) {
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

  void enter(plan::ModuleId module) override { current_ = plan::index_of(module); }
  void leave(plan::ModuleId /*module*/) override {}
  bool gates_backward(plan::ModuleId /*module*/) const override { return false; }
  void enter_backward(plan::ModuleId /*module*/) override {}

  const plan::LayerWork& work(std::size_t module) const { return work_.at(module); }
  int leaf_calls() const { return leaf_calls_; }

 private:
  /// Operations inside another operation are part of that one.
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (active_->depth_++ > 0) {
      return nullptr;
    }
    auto operation = std::make_unique<Operation>();
    operation->name = function.name();
    if (contains(kViews, operation->name)) {
      return operation;
    }
    const auto inputs = function.inputs();
    // bias + input * weight, and input, weight, ...
    const bool product = operation->name == "aten::addmm";
    const at::Tensor& input = inputs[product ? 1 : 0].toTensor();
    operation->inputs = static_cast<double>(input.numel());
    operation->small = input.dim() < 2 || (input.dim() == 2 && input.size(0) == 1);
    if (product) {
      operation->products = static_cast<double>(input.size(1));
    } else if (operation->name == "aten::conv2d") {
      const at::Tensor& weight = inputs[1].toTensor();
      operation->products = static_cast<double>(weight.numel() / weight.size(0));
    } else if (operation->name == "aten::scaled_dot_product_attention") {
      operation->products = static_cast<double>(2 * input.size(-2));
    }
    return operation;
  }

  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    --active_->depth_;
    if (context != nullptr) {
      const auto& operation = *static_cast<const Operation*>(context);
      if (!contains(kViews, operation.name)) {
        active_->add(operation, function.outputs().at(0).toTensor());
      }
    }
  }

  void add(const Operation& operation, const at::Tensor& output) {
    const std::string_view name = operation.name;
    const auto outputs = static_cast<double>(output.numel());
    leaf_calls_ += contains(kLeaves, name) ? 1 : 0;
    if (name == "aten::conv2d" || name == "aten::addmm") {
      add(2 * operation.products * outputs, operation.inputs + outputs);
    } else if (name == "aten::batch_norm" || name == "aten::layer_norm") {
      add_each(outputs, kNormalization);
    } else if (name == "aten::max_pool2d") {
      add(operation.inputs, operation.inputs + outputs);
    } else if (name == "aten::adaptive_avg_pool2d") {
      // To the size that the image has already, nothing is averaged.
      const bool averages = operation.inputs > outputs;
      add(averages ? operation.inputs : 0, averages ? operation.inputs : 0);
    } else if (name == "aten::embedding") {
      add_each(outputs, kEmbedding);
    } else if (name == "aten::scaled_dot_product_attention") {
      // Queries, keys, values and what comes out, forth and back.
      add(2 * operation.products * outputs, 8 * outputs);
      add_each(operation.inputs / static_cast<double>(output.size(-1)) * operation.products / 2,
               kScore);
    } else if (!operation.small && !sums_embeddings(name)) {
      add_each(name == "aten::cross_entropy_loss" ? operation.inputs : outputs,
               rule_of(name, output.dim() == 4));
    }
  }

  static Rule rule_of(std::string_view name, bool image) {
    if (name == "aten::relu_") {
      return kActivation;
    }
    if (name == "aten::gelu") {
      return kGelu;
    }
    if (name == "aten::add_" || name == "aten::add") {
      return image ? kAddition : kTokenAddition;
    }
    if (name == "aten::dropout") {
      return kDropout;
    }
    EXPECT_EQ(name, "aten::cross_entropy_loss") << "an operation without a rule";
    return kCrossEntropy;
  }

  bool sums_embeddings(std::string_view name) const {
    return name == "aten::add" &&
           dynamic_cast<torch::nn::EmbeddingImpl*>(gated_.at(current_)) != nullptr;
  }

  void add_each(double count, const Rule& rule) { add(count * rule.flops, count * rule.elements); }

  void add(double flops, double elements) {
    work_.at(current_).flops += flops;
    work_.at(current_).bytes += kBytesPerElement * elements;
  }

  static thread_local WorkRecorder* active_;
  at::CallbackHandle callback_ = 0;
  int depth_ = 0;
  std::size_t current_ = 0;
  int leaf_calls_ = 0;
  std::vector<networks::Gated*> gated_;
  std::vector<plan::LayerWork> work_;
};

thread_local WorkRecorder* WorkRecorder::active_ = nullptr;

/// The kind of a layer, and a convolution's kernel, stride and groups.
std::pair<std::string, Json> kind_of(const networks::Gated* layer) {
  if (const auto* conv = dynamic_cast<const torch::nn::Conv2dImpl*>(layer)) {
    return {"convolution",
            {conv->options.kernel_size()->at(0), conv->options.stride()->at(0),
             conv->options.groups()}};
  }
  if (dynamic_cast<const torch::nn::BatchNorm2dImpl*>(layer) != nullptr ||
      dynamic_cast<const torch::nn::LayerNormImpl*>(layer) != nullptr) {
    return {"normalization", Json::array()};
  }
  if (dynamic_cast<const torch::nn::EmbeddingImpl*>(layer) != nullptr) {
    return {"embedding", Json::array()};
  }
  return {"linear", Json::array()};  // BERT's tied decoder too
}

/// The parameters of one module by their names inside the module.
Json parameters_of(const plan::ModelShape& shape, std::size_t module) {
  Json parameters = Json::object();
  for (const plan::ParameterShape& parameter : shape.parameters) {
    if (plan::index_of(parameter.module) == module) {
      parameters[parameter.name.substr(shape.modules[module].size() + 1)] = parameter.sizes;
    }
  }
  return parameters;
}

/// What one forward pass and loss of one sample takes.
struct Recorded {
  int leaf_calls = 0;
  std::vector<plan::LayerWork> work{};  // by module
};

/// The polynomial of second degree in the tokens that has these values at one, two and four times
/// a number of tokens: its linear and its square term at that number.
Json terms_of(double once, double twice, double four_times) {
  const double square = (four_times - twice - 2 * (twice - once)) / 6;
  const double linear = twice - once - 3 * square;
  return {static_cast<std::int64_t>(linear), static_cast<std::int64_t>(square)};
}

/// network_shape.cc describes the text; one module is one line.  `passes`: of a network that reads
/// text also those with two and four times the tokens.
std::string shape_text(const TracedNetwork& traced, int default_tokens,
                       const std::vector<Recorded>& passes) {
  std::string text = "\"" + traced.shape.name +
                     "\": {\"leaf_calls\": " + std::to_string(passes.front().leaf_calls) +
                     (default_tokens > 0 ? ", \"tokens\": " + std::to_string(default_tokens) : "") +
                     ", \"modules\": [\n";
  for (std::size_t m = 0; m < traced.shape.modules.size(); ++m) {
    const plan::LayerWork& work = passes.front().work[m];
    const auto [kind, window] = kind_of(traced.gated.at(m));
    Json line{traced.shape.modules[m],
              kind,
              static_cast<std::int64_t>(work.flops),
              static_cast<std::int64_t>(work.bytes),
              window,
              parameters_of(traced.shape, m)};
    if (passes.size() > 1) {
      const plan::LayerWork &twice = passes[1].work[m], &four_times = passes[2].work[m];
      line.push_back(terms_of(work.flops, twice.flops, four_times.flops));
      line.push_back(terms_of(work.bytes, twice.bytes, four_times.bytes));
    }
    text += (m == 0 ? "" : ",\n") + line.dump();
  }
  return text + "]}";
}

/// Of a sample; 0: the network reads no text.
int tokens_of(const networks::NetworkInfo& info) {
  const auto* text = std::get_if<networks::TextSample>(&info.sample);
  return text == nullptr ? 0 : text->tokens;
}

networks::Batch sample_of(const networks::NetworkInfo& info, int tokens) {
  return networks::make_batch(info, {.batch_size = 1, .network = {.sequence_length = tokens}});
}

Recorded recorded_of(const TracedNetwork& traced, const networks::Batch& sample) {
  const at::NoGradGuard no_grad;
  WorkRecorder recorder(traced.gated);
  const BoundGates bound(traced.gated, recorder);
  traced.network->loss(sample);
  Recorded recorded{.leaf_calls = recorder.leaf_calls()};
  for (std::size_t m = 0; m < traced.shape.modules.size(); ++m) {
    recorded.work.push_back(recorder.work(m));
  }
  return recorded;
}

std::string derived_text(const networks::NetworkInfo& info) {
  const networks::Batch batch = networks::make_batch(info, {.batch_size = 1});
  const auto network = networks::make_network(info, {}, 0);
  const TracedNetwork traced = trace(network, std::string(info.name), batch);
  const auto module_of = [&](plan::ParameterId id) {
    return traced.shape.parameters[plan::index_of(id)].module;
  };
  EXPECT_TRUE(std::ranges::is_sorted(traced.shape.ready_order, std::ranges::greater{}, module_of))
      << info.name << ": gradients are not ready in the reverse order";
  std::vector<Recorded> passes{recorded_of(traced, batch)};
  const int default_tokens = tokens_of(info);
  if (default_tokens > 0) {
    for (const int times : {2, 4}) {
      passes.push_back(recorded_of(traced, sample_of(info, times * default_tokens)));
    }
  }
  return shape_text(traced, default_tokens, passes);
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

TEST(NetworkShapes, OfTextsOfAnyLengthAreThoseOfTheTorchModules) {
  for (const char* name : {"bert-tiny", "bert-base-30522"}) {
    const networks::NetworkInfo& info = networks::find_network(name);
    const TracedNetwork traced =
        trace(networks::make_network(info, {}, 0), name, sample_of(info, 64));
    for (const int tokens : {2, 17, 64, 128, 512}) {
      SCOPED_TRACE(::testing::Message() << name << ", " << tokens);
      const plan::NetworkShape shape = plan::network_shape(name, tokens);
      const Recorded recorded = recorded_of(traced, sample_of(info, tokens));
      for (std::size_t m = 0; m < shape.work.size(); ++m) {
        EXPECT_EQ(shape.work[m].flops, recorded.work[m].flops) << shape.model.modules[m];
        EXPECT_EQ(shape.work[m].bytes, recorded.work[m].bytes) << shape.model.modules[m];
      }
    }
  }
}

double flops_of(const char* name) {
  const auto& info = networks::find_network(name);
  return trace(networks::make_network(info, {}, 0), name,
               networks::make_batch(info, {.batch_size = 2}))
      .flops;
}

// Multiplications by hand, of every layer; ResNet-50's as torchvision has them.
TEST(NetworkShapes, ProductsOfASample) {
  EXPECT_EQ(flops_of("lenet"),
            2.0 * (28 * 28 * 6 * 25 + 10 * 10 * 16 * 150 + 400 * 120 + 120 * 84 + 84 * 10));
  EXPECT_EQ(flops_of("resnet50"), 2.0 * 4'089'184'256);
  constexpr double kTokens = 64;
  constexpr double kHidden = 768;
  constexpr double kWords = 30'528;
  const double layer = kTokens * (12 * kHidden * kHidden) +  // weights
                       2 * kTokens * kTokens * kHidden;      // attention
  EXPECT_EQ(flops_of("bert-base"),
            2 * (12 * layer + kTokens * kHidden * (kHidden + kWords) + kHidden * (kHidden + 2)));
}

}  // namespace
}  // namespace paceline::runtime
