// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/profile_command.h"

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/process.h"
#include "paceline/case/check.h"
#include "paceline/case/field.h"
#include "paceline/case/flags.h"
#include "paceline/cli/argument_checks.h"
#include "paceline/cli/catalogue.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/rank/profile_codecs.h"
#include "paceline/rank/profile_model.h"
#include "paceline/rank/warnings.h"
#include "paceline/report/console.h"
#include "paceline/report/table.h"

namespace paceline::cli {
namespace {

using plan::milliseconds_of;

// A summary of a profile in one sentence.
std::string summary(const cluster::ProfiledModel& profiled) {
  std::string text = fmt::format("{}, batch {} on {}: forward {:.2f} ms, backward {:.2f} ms",
                                 profiled.model.name, profiled.batch_size, profiled.device,
                                 milliseconds_of(profiled.profile.forward_total()),
                                 milliseconds_of(profiled.profile.backward_total()));
  if (profiled.update) {
    text += fmt::format(", update {:.2f} ms", milliseconds_of(*profiled.update));
  }
  return text + fmt::format("; {} modules, {} parameters of {:.2f} M elements",
                            profiled.model.modules.size(), profiled.model.parameters.size(),
                            static_cast<double>(profiled.model.elements()) * 1e-6);
}

// The table of coding times, with coding rates relative to memcpy for the bytes of the gradients.
report::Table coding_table(const std::vector<cluster::CodecTime>& codecs) {
  report::Table shown{.columns = {{.name = "codec", .align = report::Align::kLeft},
                                  {.name = "encode", .group = "one core", .unit = "ms"},
                                  {.name = "decode", .group = "one core", .unit = "ms"},
                                  {.name = "memcpy", .group = "one core", .unit = "ms"},
                                  {.name = "encode", .group = "of memcpy's rate"},
                                  {.name = "decode", .group = "of memcpy's rate"}}};
  const auto ms_text = [](plan::Picoseconds time) {
    return fmt::format("{:.3f}", milliseconds_of(time));
  };
  const auto ratio = [](const cluster::CodecTime& codec, plan::Picoseconds time) {
    return time == 0
               ? "-"
               : fmt::format("{:.3f}", static_cast<double>(codec.copy) / static_cast<double>(time));
  };
  for (const cluster::CodecTime& codec : codecs) {
    shown.rows.push_back(
        {.cells = {codec.codec, ms_text(codec.encode), ms_text(codec.decode), ms_text(codec.copy),
                   ratio(codec, codec.encode), ratio(codec, codec.decode)}});
  }
  return shown;
}

}  // namespace

ProfileCommand::ProfileCommand(CLI::App& app) {
  cases::Case& c = configuration_;
  c.device = "auto";
  c.warmup = 3;
  c.steps = 10;
  app.add_option("model", c.model, "network; `paceline list` has them all")
      ->required()
      ->type_name("MODEL");
  app.add_option("--output", output_, "profile file [MODEL.profile.json]")->type_name("FILE");
  const auto number = [&](const char* flag, int& value, int least, const char* help) {
    app.add_option(flag, value, help)->check(whole_number_in(least, 1 << 20))->type_name("N");
  };
  number("--batch-size", c.batch_size, 1, "samples of a step [32]");
  number("--threads", c.threads, 0, "compute threads; 0: one per core");
  number("--warmup", c.warmup, 0, "discarded steps [3]");
  number("--steps", c.steps, 1, "measured steps [10]");
  cases::add_key_flags(
      app,
      {"image_size", "classes", "sequence_length", "dtype", "device", "optimizer", "channels_last"},
      c);
  app.add_flag("--codecs", codecs_,
               "also how long one core takes to code the gradients, for `paceline advise`; --steps "
               "times each");
}

int ProfileCommand::run() {
  cases::Case& c = configuration_;
  if (c.has_tables()) {
    throw UsageError(
        fmt::format("MODEL: {0} has embedding tables, which a profile does not describe; `paceline "
                    "predict {0} --device-rate N` goes without one",
                    c.model));
  }
  const cases::MachineFacts machine = machine_here({});
  c.device = cases::resolve_device(c.device, machine);
  c.engine = plan::engine_for("cpu").name;
  c.strategy = "none";
  if (c.threads == 0) {
    c.threads = machine.cores;
  }
  cases::check_case(c, machine, [](std::string_view key) {
    return key == "model" ? "MODEL" : cases::flag_of(*cases::find_key(key));
  });
  if (output_.empty()) {
    output_ = c.model + ".profile.json";
  }
  check_writable("--output", output_);
  keep_freed_memory();  // as ranks of a run do
  cluster::ProfiledModel profiled = rank::profile_model(c);
  if (codecs_) {
    profiled.codecs = rank::profile_codecs(profiled.model, c.steps, [](const std::string& codec) {
      fmt::print(stderr, "paceline: coding with {}\n", codec);
    });
  }
  if (const auto busy = rank::busy_machine_warning({}, launch::host_name(), c.threads)) {
    profiled.profile.origin += "; " + busy->code + ": " + busy->seen;
    fmt::print(stderr, "warning: {}: {}; {}; {}\n", busy->code, busy->seen, busy->why,
               busy->advice);
  }
  write_atomically(output_, cluster::to_json_text(profiled));
  fmt::print("{}\n", summary(profiled));
  if (!profiled.codecs.empty()) {
    fmt::print("{}", report::console_text(coding_table(profiled.codecs)));
  }
  fmt::print(stderr, "profile: {}\n", output_);
  return 0;
}

}  // namespace paceline::cli
