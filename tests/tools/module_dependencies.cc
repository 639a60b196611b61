// SPDX-License-Identifier: Apache-2.0
#include "tools/module_dependencies.h"

#include <regex>
#include <sstream>

namespace paceline::tools {
namespace {

std::set<std::string> words(const std::string& text) {
  static const std::regex kWord("[a-z_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), kWord),
          std::sregex_token_iterator()};
}

}  // namespace

Dependencies documented_dependencies(std::istream& page, std::set<std::string>* torch_free) {
  static const std::regex kRow(R"(\| `([a-z_]+)/` \|.*\|([^|]*)\|\s*)");
  Dependencies dependencies;
  bool torch = false;
  for (std::string line; std::getline(page, line);) {
    torch = torch || line.find("# The torch half") != std::string::npos;
    std::smatch row;
    if (!std::regex_match(line, row, kRow)) {
      continue;
    }
    dependencies[row[1]] = words(row[2]);
    if (!torch) {
      torch_free->insert(row[1]);
    }
  }
  return dependencies;
}

Dependencies declared_dependencies(std::istream& modules) {
  Dependencies dependencies;
  for (std::string line; std::getline(modules, line);) {
    const std::size_t colon = line.find(':');
    dependencies[line.substr(0, colon)] = words(line.substr(colon + 1));
  }
  return dependencies;
}

std::set<std::string> reachable(const Dependencies& dependencies, const std::string& module) {
  std::set<std::string> seen;
  std::vector<std::string> open = {module};
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) {
      continue;
    }
    const auto row = dependencies.find(next);
    if (row != dependencies.end()) {
      open.insert(open.end(), row->second.begin(), row->second.end());
    }
  }
  return seen;
}

std::vector<std::string> offending_includes(const std::string& file, std::istream& source,
                                            const std::set<std::string>& allowed,
                                            bool may_see_torch) {
  static const std::regex kInclude(R"re(\s*#\s*include\s*(["<])([^">]+)[">].*)re");
  static const std::regex kOurs("paceline/([a-z_]+)/.*");
  static const std::regex kTorch("(torch|ATen|c10|caffe2)/.*");
  std::vector<std::string> found;
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    std::smatch include;
    if (!std::regex_match(line, include, kInclude)) {
      continue;
    }
    const std::string path = include[2];
    std::smatch ours;
    std::string reason;
    if (std::regex_match(path, ours, kOurs)) {
      if (!allowed.contains(ours[1])) {
        reason = "which its DEPS do not name";
      }
    } else if (include[1] == "\"") {
      reason = "which is no \"paceline/<module>/<file>\"";
    } else if (!may_see_torch && std::regex_match(path, kTorch)) {
      reason = "in the torch-free half";
    }
    if (!reason.empty()) {
      std::ostringstream sentence;
      sentence << file << ":" << number << ": includes " << path << ", " << reason;
      found.push_back(sentence.str());
    }
  }
  return found;
}

}  // namespace paceline::tools
