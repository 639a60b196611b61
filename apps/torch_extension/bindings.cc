// SPDX-License-Identifier: Apache-2.0
// The functions that python/paceline/torch calls.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/extension.h>

#include "collectives.h"
#include "job.h"
#include "model.h"
#include "paceline/base/error.h"
#include "shards.h"
#include "timing.h"
#include "user_network.h"

namespace paceline::extension {
namespace {

// Makes a parameter group of the optimizer from the dict that optimizers.py passes.
ParameterGroup group_of(const std::string& optimizer, const py::dict& from) {
  ParameterGroup group;
  group.parameters = from["parameters"].cast<std::vector<std::string>>();
  group.learning_rate = from["rate"].cast<double>();
  runtime::OptimizerSettings& settings = group.settings;
  settings.name = optimizer;
  settings.momentum = from["momentum"].cast<double>();
  settings.weight_decay = from["weight_decay"].cast<double>();
  settings.nesterov = from["nesterov"].cast<bool>();
  settings.rate_decay = from["rate_decay"].cast<double>();
  settings.decay_rates = from["decay_rates"].cast<std::optional<std::array<double, 2>>>();
  settings.epsilon = from["epsilon"].cast<std::optional<double>>();
  settings.updates = from["updates"].cast<bool>();
  return group;
}

std::optional<at::Tensor> if_defined(at::Tensor tensor) {
  return tensor.defined() ? std::optional(std::move(tensor)) : std::nullopt;
}

void bind_job(py::module_& module) {
  py::class_<Job>(module, "Job")
      .def(py::init(
          [](std::string engine, double timeout, std::string interface, std::string rendezvous) {
            return std::make_unique<Job>(Job::Options{.engine = std::move(engine),
                                                      .timeout_s = timeout,
                                                      .interface = std::move(interface),
                                                      .rendezvous = std::move(rendezvous)});
          }))
      .def_property_readonly("rank", &Job::rank)
      .def_property_readonly("size", &Job::size)
      .def_property_readonly("local_rank",
                             [](const Job& job) { return job.world().self.local_rank; })
      .def_property_readonly("local_size",
                             [](const Job& job) { return job.world().self.local_world; })
      .def("fail", &Job::fail)
      .def("leave", &Job::leave)
      .def("all_reduce", &all_reduce)
      .def("broadcast", &broadcast)
      .def("neighbor_allreduce", &neighbor_allreduce)
      .def("gathered_state", &gathered_state)
      .def("timed_in_turn", &timed_in_turn);
}

void bind_unit(py::module_& module) { py::class_<Unit, std::shared_ptr<Unit>>(module, "Unit"); }

void bind_model(py::module_& module) {
  py::class_<Model>(module, "Model")
      .def(py::init([](Job& job, std::string strategy, double bucket_mb, int accumulate,
                       std::string optimizer, double clip_norm, std::optional<double> loss_scale,
                       std::uint64_t seed) {
             return std::make_unique<Model>(job, ModelOptions{.strategy = std::move(strategy),
                                                              .bucket_mb = bucket_mb,
                                                              .accumulate = accumulate,
                                                              .optimizer = std::move(optimizer),
                                                              .clip_norm = clip_norm,
                                                              .loss_scale = loss_scale,
                                                              .seed = seed});
           }),
           py::keep_alive<1, 2>())
      .def("add", [](Model& model, const std::string& path, const at::Tensor& tensor,
                     bool trained) { model.network().add(path, tensor, trained); })
      .def("unit", [](Model& model, const std::string& path) { return model.network().unit(path); })
      .def("enter", &Model::enter)
      .def("leave", &Model::leave)
      .def("enter_backward", &Model::enter_backward)
      .def("set_groups",
           [](Model& model, const std::string& optimizer, const std::vector<py::dict>& groups) {
             std::vector<ParameterGroup> all;
             for (const py::dict& group : groups) {
               all.push_back(group_of(optimizer, group));
             }
             model.set_groups(std::move(all));
           })
      .def("prepare", &Model::prepare)
      .def_property_readonly("is_prepared", &Model::is_prepared)
      .def_property_readonly("trains", &Model::trains)
      .def_property_readonly("training_ranks", &Model::training_ranks)
      .def_property_readonly("replicates", &Model::replicates)
      .def_property_readonly("averages_gradients", &Model::averages_gradients)
      .def_property_readonly("strategy", &Model::strategy)
      .def_property_readonly("ready_order", &Model::ready_order)
      .def("count_from", &Model::count_from)
      .def("wire", &wire_bytes_of)
      .def("begin_forward", &Model::begin_forward)
      .def("begin_backward", &Model::begin_backward)
      .def("gradient_slot",
           [](Model& model, const at::Tensor& parameter) {
             return if_defined(model.gradient_slot(parameter));
           })
      .def("end_backward", &Model::end_backward)
      .def("serve", &Model::serve)
      .def("drain", &Model::drain)
      .def("close", &Model::close)
      .def("throw_if_failed", &Model::throw_if_failed)
      .def("loss_scale", [](const Model& model) { return if_defined(model.loss_scale()); })
      .def("show_gradients", &Model::show_gradients)
      .def("state",
           [](const Model& model, const std::string& parameter, const std::string& name) {
             return if_defined(model.state(parameter, name));
           })
      .def("scatter_state", &scatter_state)
      .def("step_count", [](const Model& model) { return if_defined(model.step_count()); })
      .def("restart_from_parameters", &Model::restart_from_parameters);
}

}  // namespace

PYBIND11_MODULE(_extension, module) {
  py::register_exception<UsageError>(module, "UsageError", PyExc_ValueError);
  py::register_exception<WorldError>(module, "WorldError", PyExc_RuntimeError);
  bind_job(module);
  bind_unit(module);
  bind_model(module);
}

}  // namespace paceline::extension
