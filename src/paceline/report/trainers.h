// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/table.h"

namespace paceline::report {

/// "2 trainers, 1 server, 300 rows of 64 in each table, gloo, zipf 1.1": a job with embedding
/// tables, and what of it is not as usual.
std::string table_job_words(const records::Configuration& c);

/// What PyTorch's DDP and RPC benchmark prints, to the character: banner, topology, and a row for
/// each trainer and for all of them with percentiles of epochs of ten steps.  The column headed
/// epoch/sec holds examples per second: those of a trainer's last epoch over the percentile,
/// truncated.  A run of less than an epoch has a sentence in place of the rows; one that failed has
/// its error, then the samples until then.
std::string render_ddp_rpc(std::span<const records::RunRecord> records);

/// A row for each trainer and for all of them with percentiles of epochs of ten steps, in columns
/// named for what they hold.  Examples are as they were processed in all epochs.  Below the rows
/// are phases, bytes and the balance of servers where tables were looked up.
std::string render_trainers(std::span<const records::RunRecord> records);

/// What trainers beside embedding tables did in a step: phases, and where tables were looked up
/// bytes, the balance of servers, and how old rows were.
std::vector<Note> trainer_notes(const records::RunRecord& run);

}  // namespace paceline::report
