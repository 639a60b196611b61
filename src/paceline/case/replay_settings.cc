// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/replay_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/plan/engine_traits.h"

namespace paceline::cases {

void check_replay(const RawValues& block) {
  const auto replay = block.find("replay");
  if (replay == block.end() ||
      std::ranges::all_of(replay->second, [](const RawValue& it) { return it.text.empty(); })) {
    return;
  }
  const auto needs_gpu = [](std::string_view name, std::string_view word) {
    const auto* engine = plan::find_engine_traits(word);
    return name == "device" ? word == "cuda" : engine != nullptr && !engine->moves_cpu;
  };
  for (const char* name : {"device", "engine"}) {
    const auto found = block.find(name);
    if (found == block.end()) {
      continue;
    }
    for (const RawValue& given : found->second) {
      if (needs_gpu(name, given.text)) {
        throw UsageError(
            fmt::format("{}: '{}', but the ranks of a replay sleep on the CPU and {} "
                        "moves their bytes; leave it out",
                        given.where, given.text, plan::engine_for("cpu").name));
      }
    }
  }
}

void take_network_of_profile(Case& c) {
  const cluster::ProfiledModel profiled = cluster::read_profile(c.replay);
  c.model = profiled.model.name;
  c.batch_size = profiled.batch_size * c.accumulate;
  c.image_size = c.classes = c.sequence_length = 0;
  c.as_original = false;
  c.dtype = cluster::word_of(profiled.model.dtype);
  c.channels_last = false;
  c.device = "cpu";  // that is where its ranks sleep
  if (const auto* engine = plan::find_engine_traits(c.engine);
      engine != nullptr && !engine->moves(c.device)) {
    c.engine = plan::engine_for(c.device).name;
  }
}

}  // namespace paceline::cases
