// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/done.h"

#include <fmt/format.h>

#include "paceline/records/store.h"

namespace paceline::measure {

Done agree_on_done(Bulletin& bulletin,
                   bool leads,
                   const std::string& records_path,
                   std::chrono::milliseconds timeout) {
  Done done;
  if (leads) {
    const auto file =
        records::read_records(records_path, records::BrokenTail::kSkip);
    done = records::completed(file.records);
    std::string text;
    for (const auto& [key, run] : done) {
      text += fmt::format("{}\t{}\n", run, key);
    }
    bulletin.post("done", text);
    return done;
  }
  const std::string text = bulletin.read("done", timeout);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::size_t tab = text.find('\t', begin);
    done.emplace(text.substr(tab + 1, end - tab - 1),
                 std::stoi(text.substr(begin, tab - begin)));
    begin = end + 1;
  }
  return done;
}

}  // namespace paceline::measure
