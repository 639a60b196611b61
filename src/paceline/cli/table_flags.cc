// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/table_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/experiment/check.h"
#include "paceline/experiment/key.h"
#include "paceline/predict/tables.h"

namespace paceline::cli {

TableFlags::TableFlags(CLI::App& app) {
  for (const experiment::Key& key : experiment::keys()) {
    if (key.group != experiment::Group::kEmbeddings ||
        experiment::is_switch(key)) {
      continue;
    }
    const std::string flag = experiment::flag_of(key);
    options_.push_back(app.add_option_function<std::string>(
                              flag,
                              [this, &key, flag](const std::string& text) {
                                experiment::assign_key(
                                    key, text, flag, tables_);
                                given_ = flag;
                              },
                              std::string(key.help))
                           ->type_name(std::string(key.metavar))
                           ->group("Embedding tables, of hybrid"));
  }
}

void TableFlags::exclude_beside(CLI::Option& records) {
  for (CLI::Option* option : options_) {
    records.excludes(option);
  }
}

records::Configuration TableFlags::configuration(const JobFlags& job) const {
  records::Configuration tables = tables_;
  tables.model = job.model();
  if (job.batch_size()) {
    experiment::check_batch(tables.model,
                            fmt::format("--batch-size {}", *job.batch_size()));
  }
  tables.batch_size = job.batch_size().value_or(tables.batch_size);
  return tables;
}

std::vector<plan::Rank> TableFlags::complete(
    const JobFlags& job, predict::PredictRequest& request) const {
  if (!has_tables(job.model())) {
    if (!given_.empty()) {
      throw UsageError(
          fmt::format("{}: {} has no embedding tables", given_, job.model()));
    }
    return job.worlds(request.cluster);
  }
  const records::Configuration tables = configuration(job);
  predict::set_tables(tables, request);
  if (!job.ranks().empty()) {
    throw UsageError(
        fmt::format("--ranks: --trainers {} and --servers {} make {} ranks; "
                    "leave it out",
                    tables.trainers,
                    tables.servers,
                    request.ranks));
  }
  return {request.ranks};
}

}  // namespace paceline::cli
