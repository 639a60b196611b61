// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/sharded_embeddings.h"

namespace paceline::strategies {

inline constexpr std::string_view kTableRows = "embedding_rows";
inline constexpr std::string_view kTableState = "embedding_state";
inline constexpr std::string_view kTableGradients = "embedding_gradients";
inline constexpr std::string_view kBagOffsets = "bag_offsets";
inline constexpr std::string_view kPooled = "pooled";
inline constexpr std::string_view kPooledGradients = "pooled_gradients";

/// What crosses between a trainer and a server: a ragged buffer of the trainer with a slice for
/// each server, and one of the server with a slice for each trainer.
struct BufferPair {
  std::string_view of_trainer, of_server;
};
inline constexpr BufferPair kIds{kLookupIds, "served_ids"};
inline constexpr BufferPair kRows{kLookupRows, "served_rows"};
inline constexpr BufferPair kRowGradients{kLookupGradients, "served_gradients"};

/// One rank of a job with embedding tables: what it is, and its buffers.
class EmbeddingRank {
 public:
  /// With `served` false nobody holds rows.
  EmbeddingRank(const EmbeddingJob& job, Rank rank, bool served);

  bool trains() const { return rank_ < job_.trainers; }
  bool serves() const;  // holds rows
  Rank server() const { return rank_ - job_.first_server(); }

  /// Adds the buffers, which are the same on every rank but for their sizes, and the place of the
  /// bags among the parameters.
  void add_buffers(DType type, Setup& setup) const;

  /// What is for one server, or from it.
  Slice for_server(const Setup& setup, const BufferPair& what, Rank server) const;

  /// What is from one trainer, or for it.  What a rank has for itself lies once, with the
  /// trainer's.
  Slice for_trainer(const Setup& setup, const BufferPair& what, Rank trainer) const;

 private:
  /// Rows that a message typically carries, by the end that holds them: the mean over the servers,
  /// and of this server.
  struct TypicalRows {
    Elements of_trainer = 0, of_server = 0;
  };
  TypicalRows typical_rows() const;
  void add_pair(const BufferPair& what, DType type, Elements width, const TypicalRows& rows,
                Setup& setup) const;

  const EmbeddingJob& job_;
  TableMap map_;
  Rank rank_;
  bool served_;
};

/// Bytes that the plan of one rank takes.
struct PlanMemory {
  std::int64_t rows = 0;   // of tables, with their state and dense gradients
  std::int64_t other = 0;  // all other buffers
  std::int64_t bytes() const { return rows + other; }
};

/// What the plan of `input.rank` takes: its buffers where that rank trains, else those parts of
/// them that its ops touch.
PlanMemory memory_of_plan(const Planner& planner, const PlanInput& input);

}  // namespace paceline::strategies
