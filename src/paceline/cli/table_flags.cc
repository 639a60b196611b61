// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/table_flags.h"

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/check.h"
#include "paceline/case/flags.h"
#include "paceline/case/raw_settings.h"
#include "paceline/predict/case_request.h"
#include "paceline/predict/engine_choice.h"

namespace paceline::cli {
namespace {

/// Returns the default case of a network with embedding tables: the one in the experiment file of
/// the network's name.
cases::Case default_case_of(const std::string& model) {
  const auto raw =
      cases::read_raw_settings(cases::find_experiment(model, cases::experiment_roots()));
  cases::Case usual;
  for (const auto& [name, values] : raw.defaults) {
    const cases::Field* key = cases::find_key(name);
    if (key != nullptr && cases::is_case_key(*key)) {
      const cases::RawValue& value = values.front();
      cases::assign_key(*key, value.text, value.where, usual);
    }
  }
  return usual;
}

}  // namespace

TableFlags::TableFlags(CLI::App& app) {
  for (const cases::Field& key : cases::keys()) {
    if (key.of.part == cases::Part::kTables) {
      names_.push_back(key.name);
    }
  }
  options_ = cases::add_key_flags(app, names_, tables_);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    // The defaults are those of the network's experiment file, so the help does not name them.
    options_[i]
        ->group("Embedding tables, of hybrid")
        ->description(std::string(cases::find_key(names_[i])->help));
  }
}

std::vector<const cases::Field*> TableFlags::given() const {
  std::vector<const cases::Field*> keys;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (options_[i]->count() > 0) {
      keys.push_back(cases::find_key(names_[i]));
    }
  }
  return keys;
}

void TableFlags::make_exclusive_with(CLI::Option& records) {
  for (CLI::Option* option : options_) {
    records.excludes(option);
  }
}

cases::Case TableFlags::configuration(const JobFlags& job) const {
  cases::Case tables = default_case_of(job.model());
  for (const cases::Field* key : given()) {
    cases::assign_key(*key, cases::read_key(*key, tables_), cases::flag_of(*key), tables);
  }
  if (job.batch_size()) {
    cases::check_batch(tables.model, fmt::format("--batch-size {}", *job.batch_size()));
  }
  tables.batch_size = job.batch_size().value_or(tables.batch_size);
  return tables;
}

std::vector<plan::Rank> TableFlags::complete(const JobFlags& job,
                                             predict::PredictRequest& request) const {
  if (!has_tables(job.model())) {
    if (const auto keys = given(); !keys.empty()) {
      throw UsageError(fmt::format("{}: {} has no embedding tables", cases::flag_of(*keys.front()),
                                   job.model()));
    }
    return job.worlds(request.cluster);
  }
  const cases::Case tables = configuration(job);
  request.strategy = tables.strategy;
  request.engine =
      predict::engine_of(request.engine, request.cluster, "cpu");  // rows are looked up on the CPU
  predict::set_tables(tables, request);
  if (!job.ranks().empty()) {
    throw UsageError(
        fmt::format("--ranks: --trainers {} and --servers {} make {} ranks; leave it out",
                    tables.trainers, tables.servers, request.ranks));
  }
  return {request.ranks};
}

}  // namespace paceline::cli
