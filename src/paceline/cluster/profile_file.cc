// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/profile_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/json_place.h"

namespace paceline::cluster {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr double kLongestUs = 8.64e12;  // 100 days

constexpr auto kTypes =
    std::to_array<std::pair<std::string_view, plan::DType>>({{"fp32", plan::DType::kF32},
                                                             {"fp16", plan::DType::kF16},
                                                             {"bf16", plan::DType::kBF16},
                                                             {"fp8", plan::DType::kF8}});

std::int64_t integer(const JsonNode& place, std::uint64_t least) {
  return static_cast<std::int64_t>(
      place.integer(least, std::numeric_limits<std::int64_t>::max(),
                    fmt::format("a whole number of at least {}", least)));
}

plan::Picoseconds microseconds(const JsonNode& place) {
  return std::llround(place.number(0, kLongestUs, "a time in microseconds") * 1e6);
}

class Reader {
 public:
  explicit Reader(const JsonNode& top) : top_(top) {}

  ProfiledModel read() {
    top_.check_keys({"paceline_profile", "model", "origin", "device", "dtype", "batch_size",
                     "modules", "parameters", "ready_order", "update_us", "peak_memory_bytes",
                     "codecs"});
    if (integer(top_.at("paceline_profile"), 1) > kVersion) {
      top_.fail("it was written by a newer paceline");
    }
    out_.model.name = top_.at("model").text();
    out_.model.dtype = dtype();
    out_.profile.origin = text("origin", "");
    out_.device = text("device", "cpu");
    out_.batch_size =
        static_cast<int>(std::min<std::int64_t>(integer(top_.at("batch_size"), 1), 1 << 30));
    if (const auto update = top_.find_not_null("update_us")) {
      out_.update = microseconds(*update);
    }
    if (const auto memory = top_.find_not_null("peak_memory_bytes")) {
      out_.memory = integer(*memory, 0);
    }
    read_modules();
    top_.at("parameters").each([this](const JsonNode& parameter) { read_parameter(parameter); });
    if (out_.model.parameters.empty()) {
      top_.fail("parameters: at least one is needed");
    }
    read_ready_order();
    if (const auto codecs = top_.find_not_null("codecs")) {
      codecs->each([this](const JsonNode& codec) { read_codec(codec); });
    }
    return std::move(out_);
  }

 private:
  std::string text(std::string_view key, std::string_view usual) const {
    const auto found = top_.find_not_null(key);
    return found ? found->text() : std::string(usual);
  }

  plan::DType dtype() const {
    const std::string name = text("dtype", "fp32");
    if (const auto type = type_named(name)) {
      return *type;
    }
    top_.fail(fmt::format("dtype '{}': must be fp32, fp16, bf16 or fp8", name));
  }

  void read_modules() {
    top_.at("modules").each([&](const JsonNode& module) {
      // Older profiles have the bytes that a module keeps for backward, which no prediction uses.
      module.check_keys({"name", "forward_us", "activation_bytes"});
      const std::string& name = module.at("name").text();
      const auto id = static_cast<plan::ModuleId>(module.index);
      if (!module_of_.emplace(name, id).second) {
        module.fail(fmt::format("module '{}' is there twice", name));
      }
      out_.model.modules.push_back(name);
      out_.profile.forward.push_back(microseconds(module.at("forward_us")));
    });
  }

  void read_parameter(const JsonNode& parameter) {
    parameter.check_keys({"name", "sizes", "module", "backward_us"});
    plan::ParameterShape shape{.name = parameter.at("name").text()};
    const std::string& module = parameter.at("module").text();
    const auto found = module_of_.find(module);
    if (found == module_of_.end()) {
      parameter.fail(fmt::format("module '{}' is not among the modules", module));
    }
    shape.module = found->second;
    shape.elements = 1;
    parameter.at("sizes").each([&shape](const JsonNode& size) {
      const std::int64_t most = (std::int64_t{1} << 40) / shape.elements;
      shape.sizes.push_back(
          static_cast<std::int64_t>(size.integer(1, static_cast<std::uint64_t>(most))));
      shape.elements *= shape.sizes.back();
    });
    const auto id = static_cast<plan::ParameterId>(parameter.index);
    if (!parameter_of_.emplace(shape.name, id).second) {
      parameter.fail(fmt::format("parameter '{}' is there twice", shape.name));
    }
    out_.model.parameters.push_back(std::move(shape));
    out_.profile.backward.push_back(microseconds(parameter.at("backward_us")));
  }

  void read_ready_order() {
    std::set<plan::ParameterId> seen;
    const JsonNode order = top_.at("ready_order");
    order.each([&](const JsonNode& name) {
      const auto found = parameter_of_.find(name.text());
      if (found == parameter_of_.end() || !seen.insert(found->second).second) {
        order.fail(fmt::format("{} is no parameter, or there twice", name.value.dump()));
      }
      out_.model.ready_order.push_back(found->second);
    });
    if (seen.size() != parameter_of_.size()) {
      order.fail(fmt::format("{} of {} parameters", seen.size(), parameter_of_.size()));
    }
  }

  void read_codec(const JsonNode& codec) {
    codec.check_keys({"codec", "bytes", "memcpy_us", "encode_us", "decode_us", "kernels"});
    CodecTime time{.codec = codec.at("codec").text(),
                   .bytes = integer(codec.at("bytes"), 1),
                   .copy = microseconds(codec.at("memcpy_us")),
                   .encode = microseconds(codec.at("encode_us")),
                   .decode = microseconds(codec.at("decode_us"))};
    codec.at("kernels").each([&time](const JsonNode& kernel) {
      kernel.check_keys({"kernel", "bytes", "us"});
      time.kernels.push_back({.kernel = kernel.at("kernel").text(),
                              .bytes = integer(kernel.at("bytes"), 1),
                              .time = microseconds(kernel.at("us"))});
    });
    out_.codecs.push_back(std::move(time));
  }

  const JsonNode& top_;
  ProfiledModel out_;
  std::map<std::string, plan::ModuleId> module_of_;
  std::map<std::string, plan::ParameterId> parameter_of_;
};

// The conversion is exact: a double represents every picosecond of a day.
double microseconds_of(plan::Picoseconds time) { return static_cast<double>(time) / 1e6; }

OrderedJson modules_of(const ProfiledModel& profiled) {
  auto all = OrderedJson::array();
  for (std::size_t m = 0; m < profiled.model.modules.size(); ++m) {
    all.push_back({{"name", profiled.model.modules[m]},
                   {"forward_us", microseconds_of(profiled.profile.forward[m])}});
  }
  return all;
}

OrderedJson parameters_of(const ProfiledModel& profiled) {
  auto all = OrderedJson::array();
  for (std::size_t p = 0; p < profiled.model.parameters.size(); ++p) {
    const plan::ParameterShape& shape = profiled.model.parameters[p];
    all.push_back({{"name", shape.name},
                   {"sizes", shape.sizes},
                   {"module", profiled.model.modules[plan::index_of(shape.module)]},
                   {"backward_us", microseconds_of(profiled.profile.backward[p])}});
  }
  return all;
}

OrderedJson codecs_of(const ProfiledModel& profiled) {
  auto all = OrderedJson::array();
  for (const CodecTime& time : profiled.codecs) {
    auto kernels = OrderedJson::array();
    for (const KernelTime& kernel : time.kernels) {
      kernels.push_back({{"kernel", kernel.kernel},
                         {"bytes", kernel.bytes},
                         {"us", microseconds_of(kernel.time)}});
    }
    all.push_back({{"codec", time.codec},
                   {"bytes", time.bytes},
                   {"memcpy_us", microseconds_of(time.copy)},
                   {"encode_us", microseconds_of(time.encode)},
                   {"decode_us", microseconds_of(time.decode)},
                   {"kernels", std::move(kernels)}});
  }
  return all;
}

}  // namespace

std::string_view word_of(plan::DType dtype) {
  const auto* found =
      std::ranges::find(kTypes, dtype, &std::pair<std::string_view, plan::DType>::second);
  PACELINE_CHECK(found != kTypes.end());
  return found->first;
}

std::optional<plan::DType> type_named(std::string_view word) {
  const auto* found =
      std::ranges::find(kTypes, word, &std::pair<std::string_view, plan::DType>::first);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

ProfiledModel parse_profile(std::string_view text, const std::string& file) {
  const JsonNode::Origin origin = [&file](const JsonNode&) { return file + ": "; };
  const nlohmann::json json = parse_json(text, file + ": ");
  const JsonNode top{json, nullptr, "", 0, &origin};
  return Reader(top).read();
}

ProfiledModel read_profile(const std::string& path) { return parse_profile(read_text(path), path); }

std::string to_json_text(const ProfiledModel& profiled) {
  plan::check_profile(profiled.model, profiled.profile);
  OrderedJson json;
  json["paceline_profile"] = kVersion;
  json["model"] = profiled.model.name;
  json["origin"] = profiled.profile.origin;
  json["device"] = profiled.device;
  json["dtype"] = word_of(profiled.model.dtype);
  json["batch_size"] = profiled.batch_size;
  json["update_us"] =
      profiled.update ? OrderedJson(microseconds_of(*profiled.update)) : OrderedJson(nullptr);
  json["peak_memory_bytes"] =
      profiled.memory ? OrderedJson(*profiled.memory) : OrderedJson(nullptr);
  json["modules"] = modules_of(profiled);
  json["parameters"] = parameters_of(profiled);
  auto order = OrderedJson::array();
  for (const plan::ParameterId id : profiled.model.ready_order) {
    order.push_back(profiled.model.parameters[plan::index_of(id)].name);
  }
  json["ready_order"] = std::move(order);
  if (!profiled.codecs.empty()) {
    json["codecs"] = codecs_of(profiled);
  }
  return json.dump(1) + "\n";
}

}  // namespace paceline::cluster
