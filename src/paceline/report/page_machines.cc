// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/records/json.h"
#include "paceline/report/page_figures.h"
#include "paceline/report/page_html.h"

namespace paceline::report {
namespace {

// They differ from moment to moment; the runs' lines tell them.
constexpr auto kFleeting = std::to_array<std::string_view>(
    {"clock_mhz", "load_average", "cpu_pressure_percent"});

std::map<std::string, std::string> lasting_facts(
    const records::HostEnvironment& host) {
  std::map<std::string, std::string> facts = host.facts;
  for (const std::string_view fact : kFleeting) {
    facts.erase(std::string(fact));
  }
  return facts;
}

std::string key_of(const records::Environment& environment) {
  records::RunRecord record;
  record.environment = environment;
  for (records::HostEnvironment& host : record.environment.hosts) {
    host.facts = lasting_facts(host);
  }
  return records::to_json(record)["environment"].dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string term(std::string_view name, const std::string& value) {
  return value.empty() ? ""
                       : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n",
                                     html_text(name),
                                     html_text(value));
}

std::string terms(const std::map<std::string, std::string>& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += term(words, value);
  }
  return "<dl class=\"facts\">\n" + text + "</dl>\n";
}

std::string host_html(const records::HostEnvironment& host) {
  std::string text = fmt::format("<h4>Host {}</h4>\n", html_text(host.host));
  text += terms(lasting_facts(host));
  if (!host.topology.empty()) {
    text += fmt::format("<pre class=\"topology\" tabindex=\"0\">{}</pre>\n",
                        html_lines(host.topology));
  }
  return text;
}

std::string programs_html(const records::Environment& e) {
  const std::string torch =
      e.torch_git.empty()
          ? e.torch_version
          : fmt::format("{} ({:.12})", e.torch_version, e.torch_git);
  const std::string paceline =
      e.git_hash.empty()
          ? e.paceline_version
          : fmt::format("{} ({})", e.paceline_version, e.git_hash);
  return "<dl class=\"facts\">\n" + term("Paceline", paceline) +
         term("build", e.build_type) + term("compiler", e.compiler) +
         term("PyTorch", torch) + term("CUDA", e.cuda_version) +
         term("NCCL", e.nccl_version) + "</dl>\n";
}

}  // namespace

Machines::Machines(std::span<const records::RunRecord> records) {
  for (const records::RunRecord& record : records) {
    const std::string key = key_of(record.environment);
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) {
      keys_.push_back(key);
      first_.push_back(&record.environment);
    }
  }
}

std::size_t Machines::number_of(const records::RunRecord& record) const {
  const auto found =
      std::find(keys_.begin(), keys_.end(), key_of(record.environment));
  return static_cast<std::size_t>(found - keys_.begin()) + 1;
}

std::string Machines::html() const {
  std::string text;
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const records::Environment& e = *first_[i];
    const std::string title =
        first_.size() == 1 ? "The machine" : fmt::format("Machine {}", i + 1);
    text += fmt::format(
        "<section class=\"machine\" id=\"machine-{}\">\n<h3>{}</h3>\n",
        i + 1,
        title);
    text += programs_html(e);
    for (const records::HostEnvironment& host : e.hosts) {
      text += host_html(host);
    }
    if (!e.variables.empty()) {
      text += "<h4>Environment variables</h4>\n" + terms(e.variables);
    }
    text += "</section>\n";
  }
  return text;
}

}  // namespace paceline::report
