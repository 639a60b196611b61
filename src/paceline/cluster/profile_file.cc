// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/profile_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"

namespace paceline::cluster {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr double kLongestUs = 8.64e12;  // 100 days

constexpr auto kTypes = std::to_array<std::pair<std::string_view, plan::DType>>(
    {{"fp32", plan::DType::kF32},
     {"fp16", plan::DType::kF16},
     {"bf16", plan::DType::kBF16}});

// An object of the file: every key that is there must be known.
class Object {
 public:
  Object(const Json& json, std::string where, std::set<std::string> known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) {
      refuse("it is no JSON object");
    }
    for (const auto& [key, value] : json.items()) {
      if (!known.contains(key)) {
        refuse(fmt::format(
            "unknown key '{}'; known are {}", key, fmt::join(known, ", ")));
      }
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("{}: {}", where_, why));
  }

  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& at(const char* key) const {
    const Json* const value = find(key);
    if (value == nullptr) {
      refuse(fmt::format("key '{}' is missing", key));
    }
    return *value;
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string()) {
      refuse(fmt::format("{}: must be a text", key));
    }
    return value.get<std::string>();
  }

  std::int64_t integer(const char* key, std::int64_t least) const {
    const Json& value = at(key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < least) {
      refuse(fmt::format("{} = {}: must be a whole number of at least {}",
                         key,
                         value.dump(),
                         least));
    }
    return value.get<std::int64_t>();
  }

  plan::Picoseconds microseconds(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= 0) ||
        value.get<double>() > kLongestUs) {
      refuse(fmt::format(
          "{} = {}: must be a time in microseconds", key, value.dump()));
    }
    return std::llround(value.get<double>() * 1e6);
  }

  const Json& array(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array()) {
      refuse(fmt::format("{}: must be an array", key));
    }
    return value;
  }

 private:
  const Json& json_;
  std::string where_;
};

class Reader {
 public:
  Reader(const Json& json, std::string file)
      : file_(std::move(file)),
        top_(json,
             file_,
             {"paceline_profile",
              "model",
              "origin",
              "device",
              "dtype",
              "batch_size",
              "modules",
              "parameters",
              "ready_order",
              "update_us",
              "peak_memory_bytes",
              "codecs"}) {}

  ProfiledModel read() {
    if (top_.integer("paceline_profile", 1) > kVersion) {
      top_.refuse("it was written by a newer paceline");
    }
    out_.model.name = top_.text("model");
    out_.model.dtype = dtype();
    out_.profile.origin = top_.find("origin") ? top_.text("origin") : "";
    out_.device = top_.find("device") ? top_.text("device") : "cpu";
    out_.batch_size = static_cast<int>(
        std::min<std::int64_t>(top_.integer("batch_size", 1), 1 << 30));
    if (top_.find("update_us") != nullptr) {
      out_.update = top_.microseconds("update_us");
    }
    if (top_.find("peak_memory_bytes") != nullptr) {
      out_.memory = top_.integer("peak_memory_bytes", 0);
    }
    read_modules();
    read_parameters();
    read_ready_order();
    read_codecs();
    return std::move(out_);
  }

 private:
  plan::DType dtype() const {
    const std::string name = top_.find("dtype") ? top_.text("dtype") : "fp32";
    for (const auto& [word, type] : kTypes) {
      if (word == name) {
        return type;
      }
    }
    top_.refuse(fmt::format("dtype '{}': must be fp32, fp16 or bf16", name));
  }

  void read_modules() {
    const Json& modules = top_.array("modules");
    for (std::size_t i = 0; i < modules.size(); ++i) {
      const Object module(modules[i],
                          fmt::format("{}: modules[{}]", file_, i),
                          {"name", "forward_us", "activation_bytes"});
      const std::string name = module.text("name");
      if (!module_of_.emplace(name, static_cast<plan::ModuleId>(i)).second) {
        module.refuse(fmt::format("module '{}' is there twice", name));
      }
      out_.model.modules.push_back(name);
      out_.profile.forward.push_back(module.microseconds("forward_us"));
      if (module.find("activation_bytes") != nullptr) {
        out_.profile.activation_bytes.push_back(
            module.integer("activation_bytes", 0));
      }
    }
    auto& bytes = out_.profile.activation_bytes;
    if (bytes.size() != modules.size() && !bytes.empty()) {
      top_.refuse("activation_bytes: all modules have it or none");
    }
  }

  void read_parameters() {
    const Json& parameters = top_.array("parameters");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Object parameter(parameters[i],
                             fmt::format("{}: parameters[{}]", file_, i),
                             {"name", "sizes", "module", "backward_us"});
      plan::ParameterShape shape{.name = parameter.text("name"), .sizes = {}};
      const auto module = module_of_.find(parameter.text("module"));
      if (module == module_of_.end()) {
        parameter.refuse(fmt::format("module '{}' is not among the modules",
                                     parameter.text("module")));
      }
      shape.module = module->second;
      shape.elements = 1;
      for (const Json& size : parameter.array("sizes")) {
        if (!size.is_number_integer() || size.get<std::int64_t>() < 1 ||
            size.get<std::int64_t>() >
                (std::int64_t{1} << 40) / shape.elements) {
          parameter.refuse("sizes: must be whole numbers of at least 1");
        }
        shape.sizes.push_back(size.get<std::int64_t>());
        shape.elements *= shape.sizes.back();
      }
      if (!parameter_of_.emplace(shape.name, static_cast<plan::ParameterId>(i))
               .second) {
        parameter.refuse(
            fmt::format("parameter '{}' is there twice", shape.name));
      }
      out_.model.parameters.push_back(std::move(shape));
      out_.profile.backward.push_back(parameter.microseconds("backward_us"));
    }
    if (parameters.empty()) {
      top_.refuse("parameters: at least one is needed");
    }
  }

  void read_ready_order() {
    std::set<plan::ParameterId> seen;
    for (const Json& name : top_.array("ready_order")) {
      const auto found = name.is_string()
                             ? parameter_of_.find(name.get<std::string>())
                             : parameter_of_.end();
      if (found == parameter_of_.end() || !seen.insert(found->second).second) {
        top_.refuse(fmt::format(
            "ready_order: {} is no parameter, or there twice", name.dump()));
      }
      out_.model.ready_order.push_back(found->second);
    }
    if (seen.size() != parameter_of_.size()) {
      top_.refuse(fmt::format("ready_order: {} of {} parameters",
                              seen.size(),
                              parameter_of_.size()));
    }
  }

  void read_codecs() {
    if (top_.find("codecs") == nullptr) {
      return;
    }
    const Json& codecs = top_.array("codecs");
    for (std::size_t i = 0; i < codecs.size(); ++i) {
      const std::string where = fmt::format("{}: codecs[{}]", file_, i);
      const Object codec(
          codecs[i],
          where,
          {"codec", "bytes", "memcpy_us", "encode_us", "decode_us", "kernels"});
      CodecTime time{.codec = codec.text("codec"),
                     .bytes = codec.integer("bytes", 1),
                     .copy = codec.microseconds("memcpy_us"),
                     .encode = codec.microseconds("encode_us"),
                     .decode = codec.microseconds("decode_us"),
                     .kernels = {}};
      for (const Json& json : codec.array("kernels")) {
        const Object kernel(json, where, {"kernel", "bytes", "us"});
        time.kernels.push_back({.kernel = kernel.text("kernel"),
                                .bytes = kernel.integer("bytes", 1),
                                .time = kernel.microseconds("us")});
      }
      out_.codecs.push_back(std::move(time));
    }
  }

  std::string file_;
  Object top_;
  ProfiledModel out_;
  std::map<std::string, plan::ModuleId> module_of_;
  std::map<std::string, plan::ParameterId> parameter_of_;
};

// Exact: a double holds every picosecond of a day.
double microseconds_of(plan::Picoseconds time) {
  return static_cast<double>(time) / 1e6;
}

OrderedJson modules_of(const ProfiledModel& profiled) {
  auto all = OrderedJson::array();
  const auto& bytes = profiled.profile.activation_bytes;
  for (std::size_t m = 0; m < profiled.model.modules.size(); ++m) {
    OrderedJson one{
        {"name", profiled.model.modules[m]},
        {"forward_us", microseconds_of(profiled.profile.forward[m])}};
    one["activation_bytes"] =
        bytes.empty() ? OrderedJson(nullptr) : OrderedJson(bytes[m]);
    all.push_back(std::move(one));
  }
  return all;
}

OrderedJson parameters_of(const ProfiledModel& profiled) {
  auto all = OrderedJson::array();
  for (std::size_t p = 0; p < profiled.model.parameters.size(); ++p) {
    const plan::ParameterShape& shape = profiled.model.parameters[p];
    all.push_back(
        {{"name", shape.name},
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
  const auto* found = std::ranges::find(
      kTypes, dtype, &std::pair<std::string_view, plan::DType>::second);
  PACELINE_CHECK(found != kTypes.end());
  return found->first;
}

ProfiledModel parse_profile(std::string_view text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: {}", file, not_json(text, error.what())));
  }
  return Reader(json, file).read();
}

ProfiledModel read_profile(const std::string& path) {
  return parse_profile(read_text(path), path);
}

std::string to_json_text(const ProfiledModel& profiled) {
  plan::check_profile(profiled.model, profiled.profile);
  OrderedJson json;
  json["paceline_profile"] = kVersion;
  json["model"] = profiled.model.name;
  json["origin"] = profiled.profile.origin;
  json["device"] = profiled.device;
  json["dtype"] = word_of(profiled.model.dtype);
  json["batch_size"] = profiled.batch_size;
  json["update_us"] = profiled.update
                          ? OrderedJson(microseconds_of(*profiled.update))
                          : OrderedJson(nullptr);
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
