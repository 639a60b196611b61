// SPDX-License-Identifier: Apache-2.0
#include "paceline/train/shape_of.h"

#include <utility>

#include "paceline/model/batch.h"
#include "paceline/model/precision.h"
#include "paceline/runtime/shape.h"

namespace paceline::train {

plan::ModelShape shape_of(const record::Configuration& configuration) {
  const auto& info = model::find_network(configuration.model);
  const model::NetworkOptions options{.image_size = configuration.image_size,
                                      .classes = configuration.classes};
  const auto dtype =
      model::parameter_dtype(model::parse_precision(configuration.dtype));
  auto network = model::make_network(info, options, configuration.seed);
  model::cast_network(*network, dtype);
  network->train();
  const model::Batch two = model::make_batch(
      info, {.batch_size = 2, .dtype = dtype, .network = options});
  return runtime::trace(std::move(network), configuration.model, two).shape;
}

plan::PlanInput plan_input_of(const record::Configuration& configuration,
                              plan::ModelShape shape) {
  const auto& hosts = configuration.ranks_per_host;
  const at::Device device(configuration.device);
  return {.model = std::move(shape),
          .optimizer = {.name = configuration.optimizer,
                        .state_buffers =
                            configuration.optimizer == "adamw" ? 2 : 1},
          .world = configuration.ranks,
          .local_world = {hosts.begin(), hosts.end()},
          .micro_batches = configuration.accumulate,
          .loss_scaling = model::needs_loss_scaling(
              model::parse_precision(configuration.dtype), device.type())};
}

}  // namespace paceline::train
