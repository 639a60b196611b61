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

/// Some parameters, by name, and the learning rate and constants with which the optimizer updates
/// them.
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
/// On a rank that trains, a step consists of these calls for each micro-batch: begin_forward(), the
/// network's forward pass with its hooks at the units, begin_backward(), the backward pass,
/// end_backward().  On any other rank, a step is serve().
class Model {
 public:
  Model(Job& job, ModelOptions options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  UserNetwork& network() { return *network_; }

  /// Must be called before prepare(), and before each backward pass if a group has changed.
  void set_groups(std::vector<ParameterGroup> groups);

  /// Traces the network by calling `closure`, makes the plan and connects to the other ranks.
  /// Collective over the job.  Some strategies time the closure, which is then called several
  /// times.
  void prepare(const py::function& closure);
  bool is_prepared() const { return trainer_ != nullptr; }
  /// Starts counting the sent bytes at step `step`. Must be called before prepare().
  void count_from(int step) { configuration_.warmup = step; }

  bool trains() const { return trainer_->trains(); }
  int training_ranks() const;
  /// Whether all ranks hold the same parameters after each step.
  bool replicates() const;
  std::string strategy() const { return configuration_.strategy; }
  /// Whether each rank holds the mean of all ranks' gradients after a step.
  bool averages_gradients() const;

  void begin_forward();
  /// Must be called before the forward pass reads the module's parameters; waits until they may be
  /// read.
  void enter(const Unit& unit);
  /// Must be called after the forward pass has read them.  Returns whether enter_backward() has to
  /// be called when the backward pass comes to this module, because it may wait.
  bool leave(const Unit& unit);
  void enter_backward(const Unit& unit);
  void begin_backward();
  /// Returns the memory into which the backward pass may write the gradient of a parameter, as
  /// networks::Gates says; undefined outside of a step's backward pass.
  at::Tensor gradient_slot(const at::Tensor& parameter);
  void end_backward();
  void serve();
  /// Ends the training.  No operation may be in flight.
  void close();
  /// Waits until no operation is in flight.
  void drain();
  /// Throws the error that has ended the training, if there is one.
  void throw_if_failed();

  /// Returns the scale of the loss in this step; undefined if the loss is not scaled.
  at::Tensor loss_scale() const;
  /// Sets the averaged gradients as the gradients of all parameters, including those that this rank
  /// did not use.
  void show_gradients();
  /// Returns the optimizer's state of a parameter, a view of the flat buffer; undefined if this
  /// rank has no state of that name.
  at::Tensor state(const std::string& parameter, const std::string& name) const;
  /// Returns the number of updates that the optimizer has counted; undefined if it counts none.
  at::Tensor step_count() const;
  /// Must be called after parameters or buffers were changed outside of a step.  Copies them into
  /// the strategy's buffers that start as the parameters.
  void restart_from_parameters();
  /// The model must be prepared.
  const rank::Trainer& trainer() const { return *trainer_; }
  /// Returns the settings of the optimizer for the updates on a rank with this setup.
  runtime::OptimizerSettings settings_of(const plan::ModelShape& model,
                                         const plan::Setup& setup) const;
  /// Returns the names of the parameters in the order in which their gradients become ready.
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
