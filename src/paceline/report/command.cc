// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/command.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::report {
namespace {

// As it is, or between single quotes.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "+-./:=_,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

/// Adds flags in turn.
struct Line {
  std::string text = "paceline run";

  void always(std::string_view flag, const std::string& value) {
    text += fmt::format(" {} {}", flag, shell_word(value));
  }
  template <class T>
  void unless_default(std::string_view flag, const T& value, const T& usual) {
    if (value != usual) {
      always(flag, fmt::to_string(value));
    }
  }
  void where_set(std::string_view flag, bool set) {
    if (set) {
      text += fmt::format(" {}", flag);
    }
  }
};

}  // namespace

std::string command_of(const records::Configuration& c) {
  const records::Configuration usual;
  Line line;
  line.always("--model", c.model);
  line.always("--strategy", c.strategy);
  line.always("--ranks", fmt::to_string(c.ranks));
  if (!c.ranks_per_host.empty()) {
    line.always("--ranks-per-host",
                fmt::format("{}", fmt::join(c.ranks_per_host, "+")));
  }
  line.always("--batch-size", fmt::to_string(c.batch_size));
  line.unless_default("--image-size", c.image_size, usual.image_size);
  line.unless_default("--classes", c.classes, usual.classes);
  line.always("--device", c.device);
  line.always("--engine", c.engine);
  line.unless_default("--dtype", c.dtype, usual.dtype);
  line.where_set("--channels-last", c.channels_last);
  line.unless_default("--threads", c.threads, usual.threads);
  line.unless_default("--bucket-mb", c.bucket_mb, usual.bucket_mb);
  line.unless_default("--warmup", c.warmup, usual.warmup);
  line.always("--steps", fmt::to_string(c.steps));
  line.unless_default("--accumulate", c.accumulate, usual.accumulate);
  line.where_set("--compat-accumulate", c.compat_accumulate);
  line.where_set("--sync-each-step", c.sync_each_step);
  line.unless_default("--seed", c.seed, usual.seed);
  line.unless_default("--optimizer", c.optimizer, usual.optimizer);
  line.unless_default("--learning-rate", c.learning_rate, usual.learning_rate);
  line.unless_default("--momentum", c.momentum, usual.momentum);
  line.unless_default("--weight-decay", c.weight_decay, usual.weight_decay);
  if (!c.replay.empty()) {
    line.always("--replay", c.replay);
  }
  if (!c.link.empty()) {
    line.always("--link", c.link);
  }
  line.unless_default("--stretch", c.stretch, usual.stretch);
  return line.text;
}

}  // namespace paceline::report
