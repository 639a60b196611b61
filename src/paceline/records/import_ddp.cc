// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/import_ddp.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/records/importers.h"
#include "paceline/records/json.h"

namespace paceline::records {
namespace {

constexpr int kDeepest = 8;            // the report has five levels
constexpr double kLongestStepS = 1e9;  // fits nanoseconds in 64 bits

// Where a reader of text is.
struct Progress {
  int line = 1;
  char last = ' ';
};

// Reads text and keeps count of its lines for all of its copies.
class CountingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* place, Progress* progress)
      : place_(place), progress_(progress) {}

  reference operator*() const { return *place_; }
  CountingIterator& operator++() {
    progress_->line += *place_ == '\n' ? 1 : 0;
    progress_->last = *place_;
    ++place_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const {
    return place_ == other.place_;
  }
  bool operator!=(const CountingIterator& other) const {
    return place_ != other.place_;
  }

 private:
  const char* place_;
  Progress* progress_;
};

// Text of a stranger's file, fit for a terminal: printable and short.
std::string clipped(std::string_view text, std::size_t longest = 60) {
  std::string out;
  for (const char c : text.substr(0, longest)) {
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return text.size() > longest ? out + "..." : out;
}

std::string shown_json(const Json& value) {
  if (value.is_structured()) {
    return value.is_array() ? "an array" : "an object";
  }
  return clipped(value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

// The report's text as JSON that knows on which line each of its values ends.
class Document {
 public:
  Document(std::string_view text, std::string path) : path_(std::move(path)) {
    Progress at;
    const auto note = [&](int depth, Json::parse_event_t event, Json& value) {
      if (depth > kDeepest) {
        throw UsageError(fmt::format(
            "{}:{}: nested too deep to be a report", path_, at.line));
      }
      if (event == Json::parse_event_t::value ||
          event == Json::parse_event_t::array_end ||
          event == Json::parse_event_t::object_end) {
        // The end of a number is seen only in what follows it.
        const bool ahead = value.is_number() && at.last == '\n';
        ends_.push_back(at.line - (ahead ? 1 : 0));
      }
      return true;
    };
    try {
      json_ = Json::parse(CountingIterator(text.data(), &at),
                          CountingIterator(text.data() + text.size(), &at),
                          note);
    } catch (const Json::exception& error) {
      throw UsageError(fmt::format(
          "{}:{}: not JSON: {}", path_, at.line, clipped(error.what(), 200)));
    }
  }

  const Json& root() const { return json_; }

  [[noreturn]] void refuse(const Json& value,
                           std::string_view place,
                           std::string_view expected) const {
    std::size_t before = 0;
    count(json_, value, before);
    throw UsageError(fmt::format("{}:{}: {}: expected {}, found {}",
                                 path_,
                                 ends_.at(std::min(before, ends_.size() - 1)),
                                 place,
                                 expected,
                                 shown_json(value)));
  }

 private:
  // Adds how many values end before `wanted` does; whether `root` holds it.
  static bool count(const Json& root, const Json& wanted, std::size_t& before) {
    if (root.is_structured()) {
      for (const Json& part : root) {
        if (count(part, wanted, before)) {
          return true;
        }
      }
    }
    if (&root == &wanted) {
      return true;
    }
    ++before;
    return false;
  }

  std::string path_;
  Json json_;
  std::vector<int> ends_;  // in the text's order
};

class DdpReader {
 public:
  DdpReader(std::string_view text, const std::string& path)
      : document_(text, path) {}

  std::vector<RunRecord> run() {
    const Json& root = document_.root();
    if (!root.is_object()) {
      document_.refuse(root, "report", "an object");
    }
    RunRecord shared;
    shared.source = Source::kImported;
    shared.experiment = "ddp";
    shared.environment.torch_version = text(root, "", "pytorch_version");
    shared.environment.cuda_version = text(root, "", "cuda_version");
    shared.configuration.engine = text(root, "", "distributed_backend");
    shared.configuration.bucket_mb = bucket_mb(root);
    shared.configuration.device = "";
    shared.configuration.sync_each_step = true;
    shared.configuration.compat_accumulate = true;
    const Json& models = array(root, "", "benchmark_results");
    for (std::size_t i = 0; i < models.size(); ++i) {
      add_model(models[i], fmt::format("benchmark_results[{}]", i), shared);
    }
    return std::move(records_);
  }

 private:
  static std::string below(const std::string& place, std::string_view key) {
    return place.empty() ? std::string(key) : fmt::format("{}.{}", place, key);
  }

  const Json& find(const Json& object,
                   const std::string& place,
                   std::string_view key) const {
    if (!object.is_object()) {
      document_.refuse(object, place, "an object");
    }
    const auto found = object.find(key);
    if (found == object.end()) {
      document_.refuse(object,
                       place.empty() ? "report" : place,
                       fmt::format("a key '{}'", key));
    }
    return *found;
  }

  // Empty where the key is absent (older versions) or null.
  std::string text(const Json& object,
                   const std::string& place,
                   std::string_view key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) {
      return "";
    }
    if (!found->is_string()) {
      document_.refuse(*found, below(place, key), "a text or null");
    }
    return found->get<std::string>();
  }

  const Json& array(const Json& object,
                    const std::string& place,
                    std::string_view key) const {
    const Json& value = find(object, place, key);
    if (!value.is_array()) {
      document_.refuse(value, below(place, key), "an array");
    }
    return value;
  }

  // 0: older versions do not say.
  double bucket_mb(const Json& root) const {
    const auto found = root.find("bucket_size");
    if (found == root.end()) {
      return 0;
    }
    if (!found->is_number() || !(found->get<double>() >= 0)) {
      document_.refuse(*found, "bucket_size", "a number of megabytes");
    }
    return found->get<double>();
  }

  void add_model(const Json& model,
                 const std::string& place,
                 const RunRecord& shared) {
    RunRecord record = shared;
    const Json& name = find(model, place, "model");
    if (!name.is_string() || name.get<std::string>().empty()) {
      document_.refuse(name, below(place, "model"), "a text");
    }
    record.configuration.model = name.get<std::string>();
    const Json& batch = find(model, place, "batch_size");
    if (!is_count(batch)) {
      document_.refuse(batch, below(place, "batch_size"), "a positive integer");
    }
    record.configuration.batch_size = batch.get<int>();
    const Json& results = array(model, place, "result");
    std::map<std::size_t, int> on_ranks;  // results with DDP so far
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string here = fmt::format("{}.result[{}]", place, i);
      const auto ranks = ranks_of(results[i], here);
      record.configuration.ranks = static_cast<int>(ranks.size());
      record.configuration.strategy = "none";
      record.configuration.label = "no ddp";
      if (i > 0) {
        const int number = ++on_ranks[ranks.size()];
        record.configuration.strategy =
            number == 1 ? "ddp" : fmt::format("ddp-{}", number);
        record.configuration.label =
            fmt::format("{} GPUs{}",
                        ranks.size(),
                        number == 1 ? "" : fmt::format(", result {}", number));
      }
      record.ranks = samples_of(results[i], here, ranks);
      if (record.ranks.empty() && i == 0) {
        continue;  // a place held for a case that was not measured
      }
      record.configuration.warmup = 5;
      record.configuration.steps =
          static_cast<int>(record.ranks.front().step_ns.size());
      records_.push_back(record);
    }
  }

  static bool is_count(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() > 0 &&
           value.get<std::uint64_t>() <= INT32_MAX;
  }

  std::vector<int> ranks_of(const Json& result,
                            const std::string& place) const {
    const Json& list = array(result, place, "ranks");
    std::vector<int> ranks;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_unsigned() ||
          list[i].get<std::uint64_t>() > INT32_MAX) {
        document_.refuse(
            list[i], fmt::format("{}.ranks[{}]", place, i), "a rank");
      }
      ranks.push_back(list[i].get<int>());
    }
    const std::set<int> distinct(ranks.begin(), ranks.end());
    if (ranks.empty() || distinct.size() != ranks.size()) {
      document_.refuse(
          list, below(place, "ranks"), "one or more ranks, each once");
    }
    return ranks;
  }

  std::vector<RankSamples> samples_of(const Json& result,
                                      const std::string& place,
                                      const std::vector<int>& ranks) const {
    const Json& list = array(result, place, "measurements");
    if (list.empty() && place.ends_with(".result[0]")) {
      return {};
    }
    if (list.empty() || list.size() % ranks.size() != 0) {
      document_.refuse(
          list,
          fmt::format("{}.measurements ({} of them)", place, list.size()),
          fmt::format("equally many for each of {} ranks", ranks.size()));
    }
    const std::size_t steps = list.size() / ranks.size();
    std::vector<RankSamples> samples;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % steps == 0) {
        samples.emplace_back().rank = ranks[i / steps];
      }
      const double seconds = list[i].is_number() ? list[i].get<double>() : -1;
      if (!(seconds > 0 && seconds < kLongestStepS)) {
        document_.refuse(list[i],
                         fmt::format("{}.measurements[{}]", place, i),
                         "a positive number of seconds");
      }
      samples.back().step_ns.push_back(
          std::max<std::int64_t>(1, std::llround(seconds * 1e9)));
      samples.back().window_ns += samples.back().step_ns.back();
    }
    return samples;
  }

  Document document_;
  std::vector<RunRecord> records_;
};

bool is_records(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ||
         text.substr(begin).starts_with(R"({"version":)");
}

}  // namespace

bool is_ddp_report(std::string_view text, const std::string& /*path*/) {
  return !is_records(text) &&
         text.find("\"benchmark_results\"") != std::string_view::npos;
}

std::vector<RunRecord> import_ddp(std::string_view text,
                                  const std::string& path) {
  return DdpReader(text, path).run();
}

RecordFile read_any_records(const std::string& path) {
  const std::string text = read_text(path);
  if (const Importer* importer =
          is_records(text) ? nullptr : importer_of(text, path)) {
    return {.records = importer->read(text, path), .warnings = {}};
  }
  std::istringstream in(text);
  return read_records(in, path, BrokenTail::kSkip);
}

}  // namespace paceline::records
