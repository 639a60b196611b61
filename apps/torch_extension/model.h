// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/extension.h>

#include "job.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/rank/trainer.h"
#include "paceline/runtime/kernels/table.h"
#include "user_network.h"

namespace paceline::extension {

/// Some parameters, by name, and what the optimizer computes with for them.
struct ParameterGroup {
  std::vector<std::string> parameters;
  double learning_rate = 0;
  runtime::OptimizerSettings settings;
};

struct ModelOptions {
  std::string strategy;
  double bucket_mb = 25;
  int accumulate = 1;
  std::string optimizer = "sgd";
  double clip_norm = 0;
  std::optional<double> loss_scale{};  // to start with
  std::uint64_t seed = 0;              // of what kernels draw
};

/// The user's network under a plan.
///
/// A step of a rank that trains is, for each micro-batch: begin_forward(), the network's forward
/// pass with its hooks at the units, begin_backward(), the backward pass, end_backward().  One of
/// another rank is serve().
class Model {
 public:
  Model(Job& job, ModelOptions options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  UserNetwork& network() { return *network_; }

  /// Set before prepare(), and before each backward pass where one has changed.
  void set_groups(std::vector<ParameterGroup> groups);

  /// Traces the network with what `closure` computes, makes the plan and connects to the other
  /// ranks: collective over the job.  Some strategies time the closure, which is called several
  /// times then.
  void prepare(const py::function& closure);
  bool is_prepared() const { return trainer_ != nullptr; }
  /// Bytes are counted from this step on; set before prepare().
  void count_from(int step) { configuration_.warmup = step; }

  bool trains() const { return trainer_->trains(); }
  int training_ranks() const;
  /// Whether all ranks hold the same parameters after each step.
  bool replicates() const;
  std::string strategy() const { return configuration_.strategy; }
  /// Whether a step leaves the mean of all ranks' gradients on each rank.
  bool averages_gradients() const;

  void begin_forward();
  /// The module's parameters are about to be read.
  void enter(const Unit& unit);
  /// They have been read.  Whether something may wait in the backward pass until it comes to this
  /// module.
  bool leave(const Unit& unit);
  void enter_backward(const Unit& unit);
  void begin_backward();
  /// Where the backward pass may write the gradient of a parameter, as networks::Gates says;
  /// undefined outside of a step's backward pass.
  at::Tensor gradient_slot(const at::Tensor& parameter);
  void end_backward();
  void serve();
  /// Ends the training, in which nothing may be in flight.
  void close();
  /// Waits until nothing is in flight.
  void drain();
  /// Throws the error that has ended the training, where there is one.
  void throw_if_failed();

  /// The scale of the loss in this step; undefined: it is not scaled.
  at::Tensor loss_scale() const;
  /// The averaged gradients are those of the parameters, also of one that this rank did not use.
  void show_gradients();
  /// The optimizer's state of a parameter, a view of the flat buffer; undefined where this rank has
  /// no state of that name.
  at::Tensor state(const std::string& parameter, const std::string& name) const;
  /// The number of updates that the optimizer has counted; undefined where it counts none.
  at::Tensor step_count() const;
  /// Parameters and buffers are no longer those that the strategy's own buffers began with.
  void restart_from_parameters();
  /// Of a model that is prepared.
  const rank::Trainer& trainer() const { return *trainer_; }
  /// What updates compute on a rank of this setup.
  runtime::OptimizerSettings settings_of(const plan::ModelShape& model,
                                         const plan::Setup& setup) const;
  /// Names of the parameters in the order of their gradients.
  std::vector<std::string> ready_order() const;

 private:
  void require_groups_of_all(const plan::ModelShape& model) const;

  Job& job_;
  ModelOptions options_;
  cases::Case configuration_;
  std::shared_ptr<UserNetwork> network_ = std::make_shared<UserNetwork>();
  std::vector<ParameterGroup> groups_;
  bool new_groups_ = false;
  std::unordered_map<std::string, std::size_t> places_;  // of parameters
  std::unique_ptr<launch::Heartbeat::Claim> claim_;
  std::unique_ptr<rank::Trainer> trainer_;
  int micro_ = 0;
};

}  // namespace paceline::extension
