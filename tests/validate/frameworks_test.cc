// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/frameworks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

constexpr auto kReference = PACELINE_SOURCE_DIR "/reference";

const Cell& cell_of(const std::vector<Cell>& cells, const std::string& id) {
  return *std::ranges::find(cells, id, &Cell::id);
}

// Neither waits of machines nor starts cost anything here, and the network is
// faster than what a machine does inside.
TEST(Frameworks, WaitForTcpAtEveryTensorThatCrossesSockets) {
  const std::vector<Cell> cells = read_cells(kReference);
  FrameworkModel model(cells, kReference);
  Constants constants;
  constants[Constant::kFrameworkTcpRate] = 100;
  constants[Constant::kFrameworkPerRank] = 0;
  constants[Constant::kFrameworkJitter] = 0;
  const std::string series = "bert_amp_b64|PaddlePaddle|";
  const auto seconds = [&](int gpus) {
    const Cell& cell = cell_of(cells, series + std::to_string(gpus));
    return 64 * gpus / model.samples_per_s(cell, constants);
  };
  constexpr int kTensors = 206, kSteps = 2;       // of NCCL's tree over 2 hosts
  const double inside = seconds(8) - seconds(1);  // 14/8 of the bytes
  EXPECT_NEAR(seconds(16) - seconds(8),
              (15.0 / 14 - 1) * inside + kTensors * kSteps * kTcpStep,
              1e-5);
}

}  // namespace
}  // namespace paceline::validate
