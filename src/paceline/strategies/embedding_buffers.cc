// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/embedding_buffers.h"

#include <string>
#include <utility>
#include <vector>

#include "paceline/plan/access.h"
#include "paceline/plan/program.h"
#include "paceline/plan/ragged.h"

namespace paceline::strategies {

namespace {

/// The elements of a ragged slice that has room for `count` elements, rounded up to an aligned
/// piece.
Elements ragged_slice_elements(Elements count, DType dtype) {
  const Elements aligned = kAlignmentBytes / size_of(dtype);
  return (length_elements(dtype) + count + aligned - 1) / aligned * aligned;
}

BufferId add(Setup& setup, Buffer buffer) {
  setup.buffers.push_back(std::move(buffer));
  return BufferId{static_cast<std::int32_t>(setup.buffers.size() - 1)};
}

}  // namespace

EmbeddingRank::EmbeddingRank(const EmbeddingJob& job, Rank rank, bool served)
    : job_(job), table_map_(job), rank_(rank), served_(served) {}

bool EmbeddingRank::serves() const {
  return served_ && server() >= 0 && server() < job_.servers &&
         table_map_.row_count_of(server()) > 0;
}

void EmbeddingRank::add_pair(const BufferPair& what, DType type, Elements width,
                             const TypicalRows& rows, Setup& setup) const {
  const auto ragged = [&](std::string_view name, Rank peers, Elements typical) {
    add(setup,
        {.name = std::string(name),
         .dtype = type,
         .elements = peers * ragged_slice_elements(table_map_.most_rows_per_server() * width, type),
         .typical = length_elements(type) + typical * width});
  };
  ragged(what.of_trainer, trains() ? job_.servers : 0, rows.of_trainer);
  ragged(what.of_server, serves() ? job_.trainers : 0, rows.of_server);
}

EmbeddingRank::TypicalRows EmbeddingRank::typical_rows() const {
  const std::vector<Elements> wanted = table_map_.expected_rows_per_server();
  Elements sum = 0, holding = 0;
  for (Rank other = 0; other < job_.servers; ++other) {
    sum += wanted[static_cast<std::size_t>(other)];
    holding += table_map_.row_count_of(other) > 0 ? 1 : 0;
  }
  return {.of_trainer = (sum + holding - 1) / holding,
          .of_server = serves() ? wanted[static_cast<std::size_t>(server())] : 0};
}

void EmbeddingRank::add_buffers(DType type, Setup& setup) const {
  const DType of_rows = job_.bf16_rows ? DType::kBF16 : type;
  const Elements held = serves() ? table_map_.row_count_of(server()) : 0;
  add(setup, {.name = std::string(kTableRows), .dtype = of_rows, .elements = held * job_.dim});
  add(setup, {.name = std::string(kTableState),
              .dtype = type,
              .elements = held * job_.optimizer_values_per_row()});
  add(setup, {.name = std::string(kTableGradients),
              .dtype = type,
              .elements = job_.dense_gradients ? held * job_.dim : 0});
  const TypicalRows rows = typical_rows();
  add_pair(kIds, DType::kI64, 1, rows, setup);
  add_pair(kRows, of_rows, job_.dim, rows, setup);
  add_pair(kRowGradients, type, job_.dim, rows, setup);
  const auto local = [&](std::string_view name, DType of, Elements elements) {
    return add(setup,
               {.name = std::string(name), .dtype = of, .elements = trains() ? elements : 0});
  };
  const Elements bags = job_.bags.most_bags();
  local(kLookupIndex, DType::kI64, 1 + job_.tables * job_.bags.most);
  local(kBagOffsets, DType::kI64, 1 + job_.tables * bags + 1);
  const BufferId pooled = local(kPooled, type, bags * job_.width());
  const BufferId gradients = local(kPooledGradients, type, bags * job_.width());
  setup.parameters.push_back({.value = whole(setup, pooled), .gradient = whole(setup, gradients)});
}

Slice EmbeddingRank::slice_for_server(const Setup& setup, const BufferPair& what,
                                      Rank server) const {
  return shard_of(whole(setup, what.of_trainer), server, job_.servers);
}

Slice EmbeddingRank::slice_for_trainer(const Setup& setup, const BufferPair& what,
                                       Rank trainer) const {
  return trainer == rank_ ? slice_for_server(setup, what, server())
                          : shard_of(whole(setup, what.of_server), trainer, job_.trainers);
}

PlanMemory memory_of_plan(const Planner& planner, const PlanInput& input) {
  const Setup setup = planner.setup(input);
  const bool trains = input.rank < planner.training_ranks(input);
  const auto touched =
      trains ? std::vector<std::vector<Slice>>() : plan::touched_ranges(planner, input, setup);
  PlanMemory memory;
  for (std::size_t b = 0; b < setup.buffers.size(); ++b) {
    const Buffer& buffer = setup.buffers[b];
    Elements elements = trains ? buffer.elements : 0;
    for (const Slice& range : trains ? std::vector<Slice>() : touched[b]) {
      elements += range.count;
    }
    const bool of_tables =
        buffer.name == kTableRows || buffer.name == kTableState || buffer.name == kTableGradients;
    (of_tables ? memory.rows : memory.other) += elements * size_of(buffer.dtype);
  }
  return memory;
}

}  // namespace paceline::strategies
