// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/profile_codecs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/plan/program.h"
#include "paceline/runtime/kernels/call.h"
#include "paceline/runtime/kernels/table.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/operands.h"
#include "paceline/simulator/job.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

constexpr plan::Rank kRanks = 2;

plan::PlanInput input_of(const plan::ModelShape& model) {
  plan::PlanInput input;
  input.model = model;
  input.world = kRanks;
  return input;
}

/// Runs the kernels of one rank's plan, with its codec, without any other rank.
class CodecBench {
 public:
  CodecBench(const plan::ModelShape& model, const std::string& codec)
      : input_(input_of(model)),
        planner_(strategies::make_planner(strategies::parse_strategy("bsp+" + codec))),
        setup_(planner_->setup(input_)),
        plan_(planner_->plan(input_, setup_, 0)),
        memory_(setup_, at::kCPU),
        operands_(memory_, runtime::gradient_buffers(setup_)),
        copy_(at::empty_like(gradients())) {}

  std::int64_t bytes() const { return static_cast<std::int64_t>(gradients().nbytes()); }

  /// Makes new gradients, times a memcpy of them, and then times the kernels.
  void run(plan::Step step) {
    gradients().normal_();
    std::int64_t began = steady_ns();
    std::memcpy(copy_.data_ptr(), gradients().const_data_ptr(), copy_.nbytes());
    copy_ns_.push_back(static_cast<double>(steady_ns() - began));
    double encode = 0, decode = 0;
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const auto* kernel = std::get_if<plan::Kernel>(&plan_.ops[i].work);
      if (kernel == nullptr) {
        fill_receive_buffers(plan_.ops[i]);
      } else if (is_codec(*kernel)) {
        runtime::Call call = operands_.resolve(*kernel);
        call.random = {.seed = 1, .step = step, .op = static_cast<plan::OpIndex>(i)};
        began = steady_ns();
        runtime::find_kernel(kernel->name).run({}, call);
        const auto ns = static_cast<double>(steady_ns() - began);
        kernel_ns_[i].push_back(ns);
        (i < last_communication() ? encode : decode) += ns;
      }
    }
    encode_ns_.push_back(encode);
    decode_ns_.push_back(decode);
  }

  void forget() {
    for (auto* times : {&copy_ns_, &encode_ns_, &decode_ns_}) {
      times->clear();
    }
    kernel_ns_.clear();
  }

  cluster::CodecTime result(const std::string& codec) const {
    const auto median = [](const std::vector<double>& ns) {
      return plan::picoseconds_of(stats::median(ns) * 1e-9);
    };
    cluster::CodecTime time{.codec = codec,
                            .bytes = bytes(),
                            .copy = median(copy_ns_),
                            .encode = median(encode_ns_),
                            .decode = median(decode_ns_),
                            .kernels = {}};
    std::map<std::string, cluster::KernelTime> by_name;
    for (const auto& [op, ns] : kernel_ns_) {
      const auto shape = simulator::shape_of(std::get<plan::Kernel>(plan_.ops[op].work), setup_);
      cluster::KernelTime& kernel = by_name[shape.name];
      kernel.kernel = shape.name;
      kernel.bytes += shape.bytes;
      kernel.time += median(ns);
    }
    for (auto& [name, kernel] : by_name) {
      time.kernels.push_back(std::move(kernel));
    }
    return time;
  }

 private:
  at::Tensor gradients() const {
    return memory_.view(plan::whole(setup_, plan::buffer_named(setup_, plan::kGradients)));
  }

  static bool is_codec(const plan::Kernel& kernel) {
    return !plan::find_kernel_traits(kernel.name)->optimizer_step;
  }

  std::size_t last_communication() const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      last = plan::communicator_of(plan_.ops[i]) ? i : last;
    }
    return last;
  }

  /// Fills the receive buffers as the other rank would, which is assumed to send what this rank
  /// sends.
  void fill_receive_buffers(const plan::Op& op) const {
    if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      for (std::size_t i = 0; i < exchange->receives.size(); ++i) {
        memory_.view(exchange->receives[i].slice).copy_(memory_.view(exchange->sends[i].slice));
      }
    }
    const auto* collective = std::get_if<plan::Collective>(&op.work);
    if (collective != nullptr && collective->pattern == plan::Pattern::kAllGather) {
      const at::Tensor mine = memory_.view(collective->in);
      for (const at::Tensor& part : memory_.view(collective->out).split(mine.numel())) {
        part.copy_(mine);
      }
    }
  }

  plan::PlanInput input_;
  std::unique_ptr<plan::Planner> planner_;
  plan::Setup setup_;
  plan::CommPlan plan_;
  runtime::FlatMemory memory_;
  runtime::Operands operands_;
  at::Tensor copy_;
  std::vector<double> copy_ns_, encode_ns_, decode_ns_;
  std::map<std::size_t, std::vector<double>> kernel_ns_;  // keys: index of the op in the plan
};

}  // namespace

std::vector<cluster::CodecTime> profile_codecs(
    const plan::ModelShape& model, int repetitions,
    const std::function<void(const std::string&)>& begun) {
  const at::NoGradGuard no_grad;
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  std::vector<cluster::CodecTime> times;
  for (const auto& row : strategies::codecs()) {
    const std::string codec(row.name);
    if (row.guarantee == strategies::Guarantee::kNeutral) {
      continue;  // this row of the codec table leaves values as they are
    }
    begun(codec);
    try {
      CodecBench bench(model, codec);
      bench.run(0);
      bench.forget();
      for (plan::Step step = 1; step <= repetitions; ++step) {
        bench.run(step);
      }
      times.push_back(bench.result(codec));
    } catch (const UsageError&) {
      continue;  // the codec rejects the model
    }
  }
  at::set_num_threads(threads);
  return times;
}

}  // namespace paceline::rank
