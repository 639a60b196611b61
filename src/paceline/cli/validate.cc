// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/validate.h"

#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/cli/outputs.h"
#include "paceline/cli/validate_page.h"
#include "paceline/validate/examination.h"

namespace paceline::cli {
namespace {

void check_reference(const std::string& folder) {
  const char* const first = "prediction_keys.csv";
  if (!std::filesystem::exists(std::filesystem::path(folder) / first)) {
    throw UsageError(fmt::format(
        "--reference {}: no {} is there; give the folder of the published "
        "tables, reference/ of Paceline's source",
        folder,
        first));
  }
}

}  // namespace

ValidateCommand::ValidateCommand(CLI::App& app) {
  app.add_option("--reference", reference_, "folder of the published tables")
      ->capture_default_str();
  app.add_option("--predictions",
                 predictions_,
                 "write row_id,predicted_throughput of every cell");
  app.add_option("--earned",
                 earned_,
                 "write the error bars of `paceline advise`: "
                 "src/paceline/sim/examined.inc");
  app.add_option("-o,--page",
                 page_,
                 "write a page: predicted against published, residuals");
  app.add_flag("--fit", fit_, "fit the constants anew (minutes)");
  app.add_flag("--protocols",
               protocols_,
               "cross-validation and the new network (minutes)");
  app.add_option("--threads", threads_, "of fits")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--table",
                 table_,
                 "examine one only: survey, frameworks, ddp, decentralized");
  app.add_flag("--cells", cells_, "print every cell");
}

int ValidateCommand::run() const {
  check_reference(reference_);
  validate::ExaminationOptions options{.reference = reference_,
                                       .fit = fit_,
                                       .protocols = protocols_,
                                       .cells = cells_,
                                       .threads = threads_};
  if (!table_.empty()) {
    options.table = validate::table_named(table_);
  }
  if (!earned_.empty() && (!protocols_ || !table_.empty())) {
    throw UsageError("--earned needs --protocols and all tables");
  }
  check_outputs({{"--predictions", predictions_},
                 {"--earned", earned_},
                 {"--page", page_}});
  if (!predictions_.empty()) {
    options.predictions = predictions_;
  }
  if (!earned_.empty()) {
    options.earned = earned_;
  }
  const validate::Examination found = validate::examine(options);
  if (!page_.empty()) {
    write_atomically(page_, validate_page(found));
  }
  fmt::print("{}", found.text);
  return 0;
}

}  // namespace paceline::cli
