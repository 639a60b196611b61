// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/importers.h"

#include <algorithm>
#include <array>

namespace paceline::records {
namespace {

constexpr auto kImporters = std::to_array<Importer>({
    {"ddp", "the JSON of PyTorch's DDP benchmark", is_ddp_report, import_ddp},
    {"ddl",
     "a log of Horovod's synthetic benchmark or of ddl-benchmarks",
     is_ddl_log,
     import_ddl},
    {"rates",
     "a CSV table of published throughput, a cell a row",
     is_rate_table,
     import_rate_table},
    {"dlperf",
     "a log of DLPerf, named 1n8g/rn50_b128_fp32_1.log",
     is_dlperf_log,
     import_dlperf_log},
});

}  // namespace

std::span<const Importer> importers() {
  return kImporters;
}

const Importer* importer_of(std::string_view text, const std::string& path) {
  const auto* found = std::ranges::find_if(
      kImporters,
      [&](const Importer& one) { return one.recognizes(text, path); });
  return found == kImporters.end() ? nullptr : found;
}

}  // namespace paceline::records
