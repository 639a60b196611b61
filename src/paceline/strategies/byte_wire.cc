// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/byte_wire.h"

#include <utility>

#include "paceline/base/error.h"

namespace paceline::strategies {

ByteWire::ByteWire(std::string name, Elements (*per_piece)(Elements piece))
    : name_(std::move(name)), per_piece_(per_piece) {}

void ByteWire::add_buffers(const PlanInput& input,
                           SetupBuilder& builder) const {
  const Elements values =
      whole(builder.setup(), buffer_named(builder.setup(), kValues)).count;
  const Elements bytes = places_before(values, input.model);
  builder.add_buffer({.name = name_, .dtype = DType::kI8, .elements = bytes});
  builder.add_buffer({.name = "all_" + name_,
                      .dtype = DType::kI8,
                      .elements = input.world * bytes});
}

Crossing ByteWire::crossing(const Slice& slice,
                            Elements bytes,
                            const Program& program) const {
  const ModelShape& model = program.input().model;
  const Elements begin = places_before(slice.begin, model);
  PACELINE_CHECK(begin + bytes <=
                 places_before(slice.begin + slice.count, model));
  const Elements world = program.input().world;
  return {.format = {.type = DType::kI8, .combination = Combination::kGather},
          .of = slice,
          .mine = {buffer_named(program.setup(), name_), begin, bytes},
          .all = {buffer_named(program.setup(), "all_" + name_),
                  world * begin,
                  world * bytes}};
}

Elements ByteWire::places_before(Elements begin,
                                 const ModelShape& model) const {
  const Elements piece = kAlignmentBytes / size_of(model.dtype);
  PACELINE_CHECK_EQ(begin % piece, 0);
  return begin / piece * per_piece_(piece);
}

}  // namespace paceline::strategies
