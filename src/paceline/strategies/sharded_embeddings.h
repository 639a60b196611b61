// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The parameter of a model in whose place the bags are put: [bags, width].
inline constexpr std::string_view kPooledParameter = "embedding_bags.pooled";

/// Buffers of a trainer: the ids, rows and gradients that cross, a slice for each server, and the
/// lookups of the step.
inline constexpr std::string_view kLookupIds = "lookup_ids";
inline constexpr std::string_view kLookupRows = "lookup_rows";
inline constexpr std::string_view kLookupGradients = "lookup_gradients";
inline constexpr std::string_view kLookupIndex = "lookup_index";

/// Whether embedding rows cross; where they do not, every trainer pools rows that nobody serves:
/// compute alone.
enum class Rows : std::uint8_t { kServed, kAbsent };

/// Embedding tables on servers, beside any data-parallel strategy of the other parameters
/// (`dense`), which only the trainers perform.
///
///   rounds per step          3: ids, rows, gradients of rows
///   bytes sent, rank, step   trainer: 8 + 8 u to each server that it asks, 8 +
///                            u d e of gradients; server: 8 + u d e to each
///                            trainer; u distinct rows of dimension d and of e
///                            bytes an element; the dense part's beside
///   extra memory             server: its rows, and for each trainer u rows
///                            twice; trainer: u rows twice for each server;
///                            with dense gradients the server's rows once more
///   guarantee                exact: rows and dense parameters are those of one
///                            process that trains on the mean of the trainers'
///                            losses; with staleness not reproducible
///
/// Ids are deduplicated before they cross, rows are pooled by the trainer, and true lengths travel
/// with the messages (Note [Ragged slices]).  Gradients of rows leave when their bags' gradient is
/// final, beside what the dense part still sends.  A server updates its rows once, when it has the
/// gradients of all trainers; with staleness, once for each trainer's share of the mean, as they
/// come, and lookups do not wait for the updates of so many steps.  The master's plan is empty.
///
/// Where the trainers are the servers, ids, rows and gradients of rows cross in an exchange each,
/// in which every trainer sends and receives: an all-to-all. What a trainer wants of its own rows
/// does not cross, so that both of its parts send to one rank less.
/// Li et al., OSDI 2014 (parameter server); Naumov et al., arXiv:1906.00091 (embedding tables apart
/// from dense layers); Ho et al., NeurIPS 2013
/// (bounded staleness); Niu et al., NeurIPS 2011 (Hogwild); Ivchenko et al., RecSys 2022 (TorchRec:
/// tables on trainers, all-to-all).
std::unique_ptr<Planner> make_sharded_embeddings(const EmbeddingJob& job,
                                                 std::unique_ptr<Planner> dense, Rows rows);

}  // namespace paceline::strategies
