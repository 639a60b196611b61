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

/// The two buffers for data that trainers and servers send each other, both ragged: the trainer's
/// has a slice for each server, and the server's has a slice for each trainer.
struct BufferPair {
  std::string_view of_trainer, of_server;
};
inline constexpr BufferPair kIds{kLookupIds, "served_ids"};
inline constexpr BufferPair kRows{kLookupRows, "served_rows"};
inline constexpr BufferPair kRowGradients{kLookupGradients, "served_gradients"};

/// The role and the buffers of one rank in a job with embedding tables.
class EmbeddingRank {
 public:
  /// `served`: whether servers hold rows; if false, no rank does.
  EmbeddingRank(const EmbeddingJob& job, Rank rank, bool served);

  bool trains() const { return rank_ < job_.trainers; }
  bool serves() const;  // whether this rank holds rows
  Rank server() const { return rank_ - job_.first_server(); }

  /// Adds the buffers, whose names are the same on every rank but whose sizes differ, and the
  /// placement of the pooled bags as the last parameter.
  void add_buffers(DType type, Setup& setup) const;

  /// The slice of `what` that this trainer sends to `server` or receives from it.
  Slice slice_for_server(const Setup& setup, const BufferPair& what, Rank server) const;

  /// The slice of `what` that this server receives from `trainer` or sends to it. If the rank is
  /// server and trainer in one, its data for itself is only in the trainer's buffer.
  Slice slice_for_trainer(const Setup& setup, const BufferPair& what, Rank trainer) const;

 private:
  /// The number of rows that a message typically carries, by which buffers of varying length are
  /// costed. For the trainer's buffer it is the mean over the servers, for the server's buffer the
  /// number of that server.
  struct TypicalRows {
    Elements of_trainer = 0, of_server = 0;
  };
  TypicalRows typical_rows() const;
  void add_pair(const BufferPair& what, DType type, Elements width, const TypicalRows& rows,
                Setup& setup) const;

  const EmbeddingJob& job_;
  TableMap table_map_;
  Rank rank_;
  bool served_;
};

/// The memory, in bytes, of the buffers in one rank's plan.
struct PlanMemory {
  std::int64_t rows = 0;   // of table rows, with their optimizer state and dense gradients
  std::int64_t other = 0;  // all other buffers
  std::int64_t bytes() const { return rows + other; }
};

/// The memory that the plan of `input.rank` needs: all buffers if that rank trains, otherwise only
/// the parts of them that its ops touch.
PlanMemory memory_of_plan(const Planner& planner, const PlanInput& input);

}  // namespace paceline::strategies
