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

}  // namespace paceline::train
