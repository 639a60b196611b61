// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/python_report.h"

#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/run_python.h"
#include "paceline/report/comparison_data.h"
#include "paceline/report/formats.h"

namespace paceline::report {
namespace {

std::string printed_by(const std::string& name,
                       const std::vector<std::string>& arguments,
                       std::span<const records::RunRecord> records) {
  const PythonOutput output =
      run_python("paceline.reports." + name,
                 arguments,
                 json_text(comparison_data(records), -1));
  if (output.exit_code != 0) {
    throw WorldError(fmt::format("the report {} ended with {}: {}",
                                 name,
                                 output.exit_code,
                                 last_words(output)));
  }
  return output.text;
}

}  // namespace

std::string python_report(const std::string& name,
                          std::span<const records::RunRecord> records) {
  return printed_by(name, {}, records);
}

Json python_report_data(const std::string& name,
                        std::span<const records::RunRecord> records) {
  return Json::parse(printed_by(name, {"--data"}, records));
}

std::string render_dlperf(std::span<const records::RunRecord> records) {
  return python_report("dlperf", records);
}

}  // namespace paceline::report
