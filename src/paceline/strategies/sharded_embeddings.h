// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The name of the output of the embedding bags, [bags, width].  The plan treats this output as a
/// parameter of the dense network, whose gradient goes to the tables.
inline constexpr std::string_view kPooledParameter = "embedding_bags.pooled";

/// The buffers of a trainer: the ids, rows and gradients that are exchanged, with a slice for each
/// server, and the lookups of the step.
inline constexpr std::string_view kLookupIds = "lookup_ids";
inline constexpr std::string_view kLookupRows = "lookup_rows";
inline constexpr std::string_view kLookupGradients = "lookup_gradients";
inline constexpr std::string_view kLookupIndex = "lookup_index";

/// Whether embedding rows are exchanged.  If they are not, every trainer pools rows that no server
/// sends, which measures compute alone.
enum class RowExchange : std::uint8_t { kServed, kAbsent };

/// Plans embedding tables on servers in addition to any data-parallel strategy for the other
/// parameters (`dense`), which only the trainers perform.
///
///   rounds per step          3: ids, rows, gradients of rows
///   bytes sent, rank, step   trainer: 8 + 8 u to each server that it asks, 8 +
///                            u d e of gradients; server: 8 + u d e to each
///                            trainer; u: distinct rows, of dimension d and of e
///                            bytes per element; plus those of the dense part
///   extra memory             server: its rows, and for each trainer u rows
///                            twice; trainer: u rows twice for each server;
///                            with dense gradients the server's rows once more
///   guarantee                exact: rows and dense parameters are those of one
///                            process that trains on the mean of the trainers'
///                            losses; with staleness not reproducible
///
/// Ids are deduplicated before they are sent, trainers pool the rows, and messages carry their true
/// lengths (Note [Ragged slices]).  Gradients of rows are sent when the gradient of their bags is
/// final, in parallel with the remaining communication of the dense part.  A server updates its
/// rows once, when it has the gradients of all trainers.  With staleness it updates them once for
/// each trainer's share of the mean, as the shares arrive, and lookups do not wait for the updates
/// of the newest `staleness` steps.  The master's plan is empty.
///
/// Where the trainers are the servers, ids, rows and gradients of rows are each sent in one
/// exchange in which every trainer sends and receives (an all-to-all).  A trainer's own rows are
/// not sent, so in both of its roles it sends to one rank less.  Li et al., OSDI 2014 (parameter
/// server); Naumov et al., arXiv:1906.00091 (embedding tables apart from dense layers); Ho et al.,
/// NeurIPS 2013 (bounded staleness); Niu et al., NeurIPS 2011 (Hogwild); Ivchenko et al., RecSys
/// 2022 (TorchRec: tables on trainers, all-to-all).
std::unique_ptr<Planner> make_sharded_embeddings(const EmbeddingJob& job,
                                                 std::unique_ptr<Planner> dense, RowExchange rows);

}  // namespace paceline::strategies
