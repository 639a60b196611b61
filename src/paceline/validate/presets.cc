// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/presets.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/predict/predict.h"
#include "paceline/validate/score.h"
#include "paceline/validate/survey_job.h"

namespace paceline::validate {
namespace {

struct Words {
  std::string_view published, ours;
};

template <std::size_t kCount>
std::string ours(const std::array<Words, kCount>& words,
                 std::string_view published) {
  const auto found = std::ranges::find(words, published, &Words::published);
  return found == words.end() ? "" : std::string(found->ours);
}

constexpr std::array<Words, 3> kNetworks{
    {{"10GbE", "8x4-2080ti-10gbe.toml"},
     {"100GbIB", "8x4-2080ti-100gbib.toml"},
     {"100GbE", "8x4-2080ti-100gbe.toml"}}};

constexpr std::array<Words, 3> kModels{{{"ResNet-50", "resnet50"},
                                        {"BERT-Base", "bert-base"},
                                        {"BERT-Large", "bert-large"}}};

constexpr std::array<Words, 4> kMethods{
    {{"BSP-A2A", "bsp"},
     {"WFBP-A2A", "wfbp"},
     {"MG-WFBP", "mg-wfbp:small-elements=8192"},
     {"ByteScheduler-A2A",  // 4 and 16 million parameters
      "bytescheduler:order=priority,partition-mb=15.2587890625,"
      "credit-mb=61.03515625"}}};

/// As docs/simulator.md's examination has them.
constexpr std::array<Words, 3> kAlgorithms{
    {{"horovod", "fusion:bucket-mb=8"},
     {"neighbor_allreduce",
      "fusion:bucket-mb=4+neighbor-allreduce:topology=inner-outer-exp+"
      "awc:window=backward"},
     {"hierarchical_neighbor_allreduce",
      "fusion:bucket-mb=4+hierarchical-neighbor-allreduce:topology="
      "one-peer-exp,style=leader+awc:window=backward"}}};

predict::PredictRequest survey_request(const Cell& cell) {
  const SurveyCell it = survey_cell(cell);
  predict::PredictRequest request;
  request.network = plan::network_shape(ours(kModels, it.model));
  request.batch_size = it.model == "BERT-Large" ? 8 : 64;
  request.optimizer = it.model != "ResNet-50" && !it.serves() ? "adamw" : "sgd";
  request.strategy =
      it.serves() ? server_strategy(it) : ours(kMethods, it.method);
  if (it.method == "ByteScheduler-A2A") {
    request.engine = "bytescheduler";
  }
  if (it.serves()) {
    request.engine = "byteps";
  }
  return request;
}

/// `-H node0:4,...,server0:1,...`: BytePS's servers are processes of their own,
/// one for each host that works.
void add_servers(int hosts, predict::PredictRequest& request) {
  auto& all = request.cluster.hosts;
  all.resize(static_cast<std::size_t>(hosts));
  for (int i = 0; i < hosts; ++i) {
    all.push_back(
        {.name = fmt::format("server{}", i), .slots = 1, .interface = {}});
  }
  request.ranks += hosts;
}

predict::PredictRequest ddp_request(const Cell& cell,
                                    const std::vector<Cell>& cells) {
  predict::PredictRequest request;
  request.network = plan::network_shape(cell.key[0]);
  request.batch_size = 32;
  request.strategy = "ddp:bucket-mb=25,first-bucket-mb=1";
  for (const Cell& other : cells) {  // `--device-rate`
    if (other.table == Table::kDdp && other.key[0] == cell.key[0] &&
        other.key[1] == "no ddp" && other.key[2] == "p50") {
      request.samples_per_s = other.published;
    }
  }
  return request;
}

predict::PredictRequest decentralized_request(const Cell& cell) {
  predict::PredictRequest request;
  request.network = plan::network_shape("resnet50");
  request.batch_size = cell.key[0] == "bf_full_benchmark2" ? 32 : 64;
  request.strategy = ours(kAlgorithms, cell.key[1]);
  if (cell.key[1] != "horovod") {
    request.engine = "bluefog";
  }
  return request;
}

std::string file_of(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return ours(kNetworks, survey_cell(cell).network);
    case Table::kDdp:
      return cell.key[2] == "p50" ? "8x8-v100-4x100gbib.toml" : "";
    case Table::kDecentralized:
      return "16x8-v100-25gb.toml";
    case Table::kFrameworks:
    case Table::kDdpBuckets:
      break;
  }
  return "";
}

}  // namespace

std::optional<predict::PredictRequest> preset_request(
    const Cell& cell,
    const std::vector<Cell>& cells,
    const std::filesystem::path& clusters) {
  const std::string file = file_of(cell);
  if (file.empty() || !multi_node(cell)) {
    return std::nullopt;
  }
  predict::PredictRequest request =
      cell.table == Table::kSurvey ? survey_request(cell)
      : cell.table == Table::kDdp  ? ddp_request(cell, cells)
                                   : decentralized_request(cell);
  request.cluster = cluster::read_cluster(clusters / file);
  request.ranks = cell.gpus();
  if (cell.table == Table::kSurvey && survey_cell(cell).serves()) {
    add_servers(survey_cell(cell).hosts(), request);
  }
  return request;
}

Errors preset_errors(const std::vector<Cell>& cells,
                     std::span<const Cell* const> chosen,
                     const std::filesystem::path& clusters) {
  Errors errors;
  for (const Cell* cell : chosen) {
    const auto request = preset_request(*cell, cells, clusters);
    if (!request || !cell->published) {
      continue;
    }
    // The PyTorch tables count samples of one device.
    const double devices = cell->table == Table::kDdp ? cell->gpus() : 1;
    const double rate = predict::predict(*request).samples_per_s() / devices;
    errors[cell] = 100 * (rate / *cell->published - 1);
  }
  return errors;
}

}  // namespace paceline::validate
