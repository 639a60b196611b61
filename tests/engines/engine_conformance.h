// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "paceline/engines/c10d_store.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/job_launch.h"

namespace paceline::testing {

/// This rank, and the engine that it tests with tensors on a device.
struct RankUnderTest {
  std::string engine;
  at::Device device{at::kCPU};
  const engines::RankContext* context = nullptr;
};

inline RankUnderTest& rank_under_test() {
  static RankUnderTest rank;
  return rank;
}

inline const engines::RankContext& context() { return *rank_under_test().context; }

inline const std::string& engine() { return rank_under_test().engine; }

inline at::Device device() { return rank_under_test().device; }

inline at::Device device_of(const std::string& type, const engines::RankContext& context) {
  const at::Device device(type);
  return device.is_cpu()
             ? device
             : at::Device(device.type(), static_cast<c10::DeviceIndex>(
                                             context.world.self.local_rank %
                                             static_cast<int>(torch::cuda::device_count())));
}

/// Of a channel between all ranks; `name` must be new.
inline engines::ChannelSpec spec_of(const std::string& name) {
  auto spec = engines::channel_spec(context().world, name, context().world.self.world);
  spec.timeout = spec.operation_timeout = std::chrono::seconds(20);
  spec.device = device();
  return spec;
}

inline std::unique_ptr<engines::Channel> connect(const std::string& name) {
  return engines::make_engine(engine())->connect(spec_of(name));
}

inline int launch_ranks(const std::string& program, const std::string& engine, int ranks,
                        const std::string& device) {
  launch::JobLaunch job;
  job.serve_store = engines::serve_key_value_store;
  job.hosts = {
      {.host = launch::host_name(), .ranks = ranks, .argv = {program, "rank", engine, device}}};
  job.mpirun = engines::find_engine(engine).mpirun;
  const auto outcome = launch::launch_job(job);
  std::printf("%s\n", outcome.message.c_str());
  return outcome.exit_code;
}

/// `launch ENGINE RANKS DEVICE` starts the ranks, each of which runs all tests,
/// all in the same order: a test is collective.  DEVICE is cpu or cuda, where ranks take GPUs in
/// turn.
inline int run_or_launch(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() == 5 && words[1] == "launch") {
    return launch_ranks(words[0], words[2], std::stoi(words[3]), words[4]);
  }
  if (words.size() == 4 && words[1] == "rank") {
    return engines::run_rank(
        launch::detect_launch(""), std::chrono::seconds(20),
        [&](const engines::RankContext& its_context) {
          rank_under_test() = {words[2], device_of(words[3], its_context), &its_context};
          ::testing::InitGoogleTest();
          return RUN_ALL_TESTS();
        });
  }
  std::fprintf(stderr, "%s launch ENGINE RANKS DEVICE\n", argv[0]);
  return 2;
}

inline int conformance_main(int argc, char** argv) {
  const int code = run_or_launch(argc, argv);
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace paceline::testing
