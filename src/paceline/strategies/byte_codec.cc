// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/byte_codec.h"

#include <utility>

#include "paceline/base/error.h"

namespace paceline::strategies {

ByteCodec::ByteCodec(std::string name, Elements (*per_piece)(Elements piece))
    : name_(std::move(name)), per_piece_(per_piece) {}

void ByteCodec::extend_setup(const PlanInput&, SetupBuilder& builder) const {
  builder.add_buffer({.name = name_, .dtype = DType::kI8, .elements = bytes_of(builder)});
}

void ByteCodec::add_gathered(SetupBuilder& builder) const {
  builder.add_buffer({.name = "all_" + name_,
                      .dtype = DType::kI8,
                      .elements = builder.input().world * bytes_of(builder)});
}

Elements ByteCodec::bytes_of(const SetupBuilder& builder) const {
  return reserved_bytes_before(whole(builder.setup(), kValues).count, builder.input().model);
}

WireSlice ByteCodec::wire_slice(const Slice& slice, Elements bytes, const Program& program) const {
  const ModelShape& model = program.input().model;
  const Elements begin = reserved_bytes_before(slice.begin, model);
  PACELINE_CHECK(begin + bytes <= reserved_bytes_before(slice.begin + slice.count, model));
  const Slice mine{buffer_named(program.setup(), name_), begin, bytes};
  return {.format = format(program.input()),
          .of = slice,
          .mine = mine,
          .all = gathered_slice_in("all_" + name_, mine, program)};
}

Elements ByteCodec::reserved_bytes_before(Elements begin, const ModelShape& model) const {
  const Elements piece = kAlignmentBytes / size_of(model.dtype);
  PACELINE_CHECK_EQ(begin % piece, 0);
  return begin / piece * per_piece_(piece);
}

}  // namespace paceline::strategies
