// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "paceline/engines/channel_spec.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/run_rank.h"

namespace paceline::testing {

/// This rank and the engine that it tests.
struct RankUnderTest {
  std::string engine;
  const engines::RankContext* context = nullptr;
};

inline RankUnderTest& rank_under_test() {
  static RankUnderTest rank;
  return rank;
}

inline void set_rank(const std::string& engine,
                     const engines::RankContext& context) {
  rank_under_test() = {engine, &context};
}

inline const engines::RankContext& context() {
  return *rank_under_test().context;
}

inline const std::string& engine() {
  return rank_under_test().engine;
}

/// Of a channel between all ranks; `name` must be new.
inline engines::ChannelSpec spec_of(const std::string& name) {
  auto spec =
      engines::channel_spec(context().world, name, context().world.self.world);
  spec.timeout = spec.operation_timeout = std::chrono::seconds(20);
  return spec;
}

inline std::unique_ptr<engines::Channel> connect(const std::string& name) {
  return engines::make_engine(engine())->connect(spec_of(name));
}

}  // namespace paceline::testing
