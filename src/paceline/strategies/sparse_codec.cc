// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/sparse_codec.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/strategies/error_feedback.h"

namespace paceline::strategies {
namespace {

std::string values_buffer_name(std::string_view name) { return fmt::format("{}_values", name); }

std::string indices_buffer_name(std::string_view name) { return fmt::format("{}_places", name); }

/// The number of elements of the bucket's tensors that lie before `end`.  The padding between
/// tensors does not count.
Elements elements_before(Elements end, const Bucket& bucket, const Program& program) {
  Elements elements = 0;
  for (const ParameterId id : bucket.parameters) {
    const Slice& tensor = program.setup().parameters[index_of(id)].value;
    elements += std::clamp(end - tensor.begin, Elements{0}, tensor.count);
  }
  return elements;
}

}  // namespace

void SparseCodec::extend_setup(const PlanInput& input, SetupBuilder& builder) const {
  add_residual(input, name_, builder);
  for (const std::string_view name : selections_) {
    add_selection_buffers(name, builder);
  }
}

void SparseCodec::add_selection_buffers(std::string_view name, SetupBuilder& builder,
                                        Elements copies) const {
  const ModelShape& model = builder.input().model;
  Elements kept = 0;
  for (const Bucket& bucket : builder.buckets()) {
    kept += copies * selected_count(bucket, model);
  }
  builder.add_buffer({.name = values_buffer_name(name), .dtype = model.dtype, .elements = kept});
  builder.add_buffer({.name = indices_buffer_name(name), .dtype = DType::kI32, .elements = kept});
}

SparseCodec::Selection SparseCodec::selection(std::string_view name, const Slice& slice,
                                              const Program& program) const {
  const ModelShape& model = program.input().model;
  const std::size_t number = program.bucket_at(slice.begin);
  Elements before = 0;
  for (std::size_t i = 0; i < number; ++i) {
    before += selected_count(program.buckets()[i], model);
  }
  const Bucket& bucket = program.buckets()[number];
  const Elements kept = selected_count(bucket, model);
  const Elements all = elements_before(bucket.values.begin + bucket.values.count, bucket, program);
  const auto share = [&](Elements end) {
    return kept * elements_before(end, bucket, program) / all;
  };
  const Elements begin = share(slice.begin);
  const Elements count = share(slice.begin + slice.count) - begin;
  const auto in = [&](const std::string& buffer) {
    return Slice{buffer_named(program.setup(), buffer), before + begin, count};
  };
  return {.values = in(values_buffer_name(name)), .places = in(indices_buffer_name(name))};
}

std::vector<WireSlice> SparseCodec::selected_slices(const Slice& slice, const Selection& mine,
                                                    const Selection& all, const Program& program,
                                                    Rank peer) const {
  if (mine.values.count == 0) {
    return {};
  }
  WireSlice values{.format = format(program.input()),
                   .of = slice,
                   .mine = mine.values,
                   .all = all.values,
                   .peer = peer};
  WireSlice places = values;
  places.format.type = DType::kI32;
  places.mine = mine.places;
  places.all = all.places;
  return {values, places};
}

void SparseCodec::select(std::string_view kernel, const Slice& slice, const Selection& selected,
                         Program& program, std::vector<double> numbers) {
  const Slice residual = residual_of(slice, program);
  if (selected.values.count == 0) {
    program.kernel("linear", {{slice}, {residual}}, {{residual}}, {1, 1});
  } else {
    program.kernel(kernel, {{slice}, {residual}},
                   {{selected.values}, {selected.places}, {residual}}, std::move(numbers));
  }
}

void SparseCodec::scatter(const Selection& selected, const Slice& slice, Program& program) {
  std::vector<Access> reads;
  if (selected.values.count > 0) {
    reads = {{selected.values}, {selected.places}};
  }
  program.kernel("scatter", std::move(reads), {{slice}});
}

/// Returns the number of values of the bucket that are sent.  The padding between tensors does not
/// count.
Elements SparseCodec::selected_count(const Bucket& bucket, const ModelShape& model) const {
  Elements elements = 0;
  for (const ParameterId id : bucket.parameters) {
    elements += model.parameters[index_of(id)].elements;
  }
  return std::max(Elements{1},
                  static_cast<Elements>(std::floor(density_ * static_cast<double>(elements))));
}

}  // namespace paceline::strategies
