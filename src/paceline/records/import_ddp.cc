// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/json_place.h"
#include "paceline/base/text.h"
#include "paceline/records/importers.h"
#include "paceline/records/readers.h"

namespace paceline::records {
namespace {

using Report = nlohmann::json;

constexpr double kLeastStepS = std::numeric_limits<double>::denorm_min();
constexpr double kLongestStepS = 1e9;  // fits nanoseconds in 64 bits

// "r.json:3: ", where 3 is the line of the last byte but `back` that was read.
std::string line_at(std::istringstream& in,
                    const std::string& file,
                    int back = 0) {
  const std::streamoff read =
      in.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in);
  const auto before =
      in.view().substr(0, static_cast<std::size_t>(read - back));
  return fmt::format("{}:{}: ", file, 1 + std::ranges::count(before, '\n'));
}

Report parse(std::string_view text, const std::string& file) {
  std::istringstream in{std::string(text)};
  try {
    return Report::parse(in);
  } catch (const Report::exception& error) {
    throw UsageError(line_at(in, file) + not_json("", error.what()));
  }
}

// "r.json:3: ", where 3 is the line on which the value at `place` ends.
std::string line_of(const JsonPlace& place,
                    std::string_view text,
                    const std::string& file) {
  using Event = Report::parse_event_t;
  using Way = std::vector<std::pair<std::string, std::size_t>>;
  Way wanted;
  for (const JsonPlace* at = &place; at->parent != nullptr; at = at->parent) {
    wanted.insert(wanted.begin(), {std::string(at->key), at->index});
  }
  std::istringstream in{std::string(text)};
  std::string line;
  Way way;  // a key or an index in each array and object around a value
  const auto note = [&](int depth, Event event, const Report& value) {
    way.resize(static_cast<std::size_t>(depth));
    if (event == Event::key) {
      way.back() = {value.get<std::string>(), 0};
    } else if (event != Event::array_start && event != Event::object_start) {
      if (way == wanted) {
        // The end of a number is seen only in what follows it.
        line = line_at(in, file, value.is_number() ? 1 : 0);
      }
      if (!way.empty()) {
        ++way.back().second;
      }
    }
    return true;
  };
  [[maybe_unused]] const Report same = Report::parse(in, note);
  return line;
}

// Empty where the key is absent (older versions) or null.
std::string text_of(const JsonPlace& report, std::string_view key) {
  const auto found = report.find_known(key);
  return found ? found->text("a text or null") : "";
}

// 0: older versions do not say.
double bucket_mb(const JsonPlace& report) {
  const auto found = report.find("bucket_size");
  return found ? found->number(0,
                               std::numeric_limits<double>::max(),
                               "a number of megabytes")
               : 0;
}

std::vector<int> ranks_of(const JsonPlace& result) {
  const JsonPlace list = result.at("ranks");
  std::vector<int> ranks;
  list.each([&ranks](const JsonPlace& rank) {
    ranks.push_back(static_cast<int>(rank.integer(0, INT32_MAX, "a rank")));
  });
  const std::set<int> distinct(ranks.begin(), ranks.end());
  if (ranks.empty() || distinct.size() != ranks.size()) {
    list.refuse("one or more ranks, each once");
  }
  return ranks;
}

std::vector<RankSamples> samples_of(const JsonPlace& result,
                                    const std::vector<int>& ranks) {
  const JsonPlace list = result.at("measurements");
  std::vector<std::int64_t> all;
  list.each([&all](const JsonPlace& time) {
    const double seconds =
        time.number(kLeastStepS, kLongestStepS, "a positive number of seconds");
    all.push_back(std::max<std::int64_t>(1, std::llround(seconds * 1e9)));
  });
  if (all.empty() && result.index == 0) {
    return {};
  }
  if (all.empty() || all.size() % ranks.size() != 0) {
    list.fail(
        fmt::format("expected equally many for each of {} ranks, found {}",
                    ranks.size(),
                    all.size()));
  }
  std::vector<RankSamples> samples(ranks.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t at = i / (all.size() / ranks.size());
    samples[at].rank = ranks[at];
    samples[at].step_ns.push_back(all[i]);
    samples[at].window_ns += all[i];
  }
  return samples;
}

// The records of one model's results.
void add_model(const JsonPlace& model,
               RunRecord record,
               std::vector<RunRecord>& records) {
  const JsonPlace name = model.at("model");
  record.configuration.model = name.text();
  if (record.configuration.model.empty()) {
    name.refuse("a text");
  }
  record.configuration.batch_size = static_cast<int>(
      model.at("batch_size").integer(1, INT32_MAX, "a positive integer"));
  std::map<std::size_t, int> on_ranks;  // results with DDP so far
  model.at("result").each([&](const JsonPlace& result) {
    const auto ranks = ranks_of(result);
    record.configuration.ranks = static_cast<int>(ranks.size());
    record.configuration.strategy = "none";
    record.configuration.label = "no ddp";
    if (result.index > 0) {
      const int number = ++on_ranks[ranks.size()];
      record.configuration.strategy =
          number == 1 ? "ddp" : fmt::format("ddp-{}", number);
      record.configuration.label =
          fmt::format("{} GPUs{}",
                      ranks.size(),
                      number == 1 ? "" : fmt::format(", result {}", number));
    }
    record.ranks = samples_of(result, ranks);
    if (record.ranks.empty()) {
      return;  // a place held for a case that was not measured
    }
    record.configuration.warmup = 5;
    record.configuration.steps =
        static_cast<int>(record.ranks.front().step_ns.size());
    records.push_back(record);
  });
}

// A text as Python writes it inside of an array or object.
std::string quoted(const std::string& text) {
  const char mark = text.find('\'') != std::string::npos &&
                            text.find('"') == std::string::npos
                        ? '"'
                        : '\'';
  std::string word(1, mark);
  for (const char c : text) {
    if (c == mark || c == '\\') {
      word += '\\';
    }
    word += c;
  }
  return word + mark;
}

std::string number_text(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_not_of("-0123456789") == std::string::npos
             ? text + ".0"
             : text;
}

std::string python_text(const Report& value, bool inside) {
  if (value.is_null()) {
    return "None";
  }
  if (value.is_boolean()) {
    return value.get<bool>() ? "True" : "False";
  }
  if (value.is_string()) {
    return inside ? quoted(value.get<std::string>()) : value.get<std::string>();
  }
  if (value.is_number_float()) {
    return number_text(value.get<double>());
  }
  if (!value.is_structured()) {
    return value.dump();
  }
  std::vector<std::string> parts;
  for (const auto& [key, part] : value.items()) {
    parts.push_back((value.is_object() ? quoted(key) + ": " : "") +
                    python_text(part, true));
  }
  const std::string inner = fmt::format("{}", fmt::join(parts, ", "));
  return value.is_object() ? "{" + inner + "}" : "[" + inner + "]";
}

}  // namespace

bool is_ddp_report(std::string_view text, const std::string& /*path*/) {
  return !is_record_file(text) &&
         text.find("\"benchmark_results\"") != std::string_view::npos;
}

std::map<std::string, std::string> ddp_facts(const nlohmann::json& report) {
  std::map<std::string, std::string> facts;
  for (const auto& [key, value] : report.items()) {
    if (key != "benchmark_results") {
      facts[key] = python_text(value, false);
    }
  }
  return facts;
}

std::vector<RunRecord> import_ddp(std::string_view text,
                                  const std::string& path) {
  const Report json = parse(text, path);
  const JsonPlace::Origin origin = [&](const JsonPlace& place) {
    return line_of(place, text, path);
  };
  const JsonPlace report{json, nullptr, "report", 0, &origin};
  RunRecord shared;
  shared.source = Source::kImported;
  shared.experiment = kDdpExperiment;
  shared.adapter = ddp_facts(json);
  shared.environment.torch_version = text_of(report, "pytorch_version");
  shared.environment.cuda_version = text_of(report, "cuda_version");
  shared.configuration.engine = text_of(report, "distributed_backend");
  shared.configuration.bucket_mb = bucket_mb(report);
  shared.configuration.device = "";
  shared.configuration.sync_each_step = true;
  shared.configuration.compat_accumulate = true;
  std::vector<RunRecord> records;
  report.at("benchmark_results").each([&](const JsonPlace& model) {
    add_model(model, shared, records);
  });
  return records;
}

}  // namespace paceline::records
