// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/runtime/kernels/table.h"

// Kernels of embedding tables on servers, on the CPU; plan/program.h has their
// operands, strategies/embedding_job.h their numbers.

namespace paceline::runtime {

/// A server's rows as they start: normal with variance 1, as PyTorch's
/// embeddings, or -1, 0 or 1.  A row depends on the seed, its table and its id,
/// not on where it lies.
void run_draw_rows(const OptimizerSettings& rule, const Call& call);

/// The step's lookups of a trainer; ids are in the order in which they come
/// first.  Throws UsageError that names trainer, table and id where a table has
/// no such row.
void run_deduplicate(const OptimizerSettings& rule, const Call& call);

/// The rows that the ids name.
void run_lookup(const OptimizerSettings& rule, const Call& call);

/// Each bag's sum, or mean, of rows, added in the order of the lookups.
void run_pool(const OptimizerSettings& rule, const Call& call);

/// The gradient of each row that was looked up: that of its bags.
void run_pool_gradient(const OptimizerSettings& rule, const Call& call);

/// Applies the rule to each row that any trainer wants, with the mean of the
/// trainers' gradients.  Rows of bf16 are rounded once.
void run_update_rows(const OptimizerSettings& rule, const Call& call);

/// Applies the rule to all rows of the server, with dense gradients: adds the
/// trainers' gradients up in a buffer as large as the server's rows.  Every
/// rule leaves a row of gradient zero as it is, so that the bits are those of
/// update_rows.
void run_update_all_rows(const OptimizerSettings& rule, const Call& call);

}  // namespace paceline::runtime
