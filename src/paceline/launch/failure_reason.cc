// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_reason.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/launch/output_prefix.h"

namespace paceline::launch {
namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::string_view kRootCause = "Root Cause (first observed failure):";
constexpr std::string_view kChildFailed = "ChildFailedError";
// An exception with more lines after it was caught: the program went on.
constexpr std::size_t kMostAfterException = 12;

using Lines = std::vector<RankLine>;

/// The exception of a traceback.
struct Raised {
  std::size_t begin = 0, end = 0;  // lines of the traceback, and its exception
  std::string text;
  std::optional<int> rank{};
};

/// What torchrun says of the rank that failed first.
struct RootCause {
  std::size_t line = 0;
  std::string rank, exit_code, message;
};

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// "=====", "-----", blanks.
bool says_nothing(const std::string& line) {
  return std::ranges::none_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool is_rule(const std::string& line) { return line.size() >= 20 && says_nothing(line); }

/// Lines that launchers and their libraries write of themselves.
bool is_of_launcher(const std::string& line) {
  // "E1128 22:59:43.320000 16572 torch/distributed/elastic/...": torchrun's.
  static const std::regex log(R"([WEIF]\d{4} \d\d:\d\d:\d\d\.\d+ .*torch/distributed/.*)");
  static const std::regex ended(
      R"((srun|slurmstepd|mpirun|mpiexec|prterun)\b.*(error:|exited|noticed|)"
      R"(Force Terminated|CANCELLED|signal).*)");
  return std::regex_match(line, log) || std::regex_match(line, ended);
}

/// Exceptions by which a launcher tells that its child has failed.
bool is_of_child(const std::string& exception) {
  return exception.find(kChildFailed) != std::string::npos ||
         exception.find("CalledProcessError") != std::string::npos ||
         exception.find("SignalException") != std::string::npos;
}

/// Whether the next traceback is of an exception that this one led to.
bool goes_on(const std::string& line) {
  return line.starts_with("During handling of the above exception") ||
         line.starts_with("The above exception was the direct cause");
}

/// The traceback that begins at `begin`. Lines of other ranks between its
/// lines are passed over where prefixes tell them.
std::optional<Raised> raised_at(const Lines& lines, std::size_t begin) {
  const std::size_t base = indent_of(lines[begin].text);
  for (std::size_t i = begin + 1; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    if (lines[i].rank == lines[begin].rank && !says_nothing(text) && indent_of(text) <= base &&
        !is_of_launcher(text)) {
      return Raised{begin, i, std::string(trimmed(text)), lines[begin].rank};
    }
  }
  return std::nullopt;
}

/// The exceptions that were not replaced by another one, in order.
std::vector<Raised> raised_in(const Lines& lines) {
  std::vector<Raised> all;
  bool replaces = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (goes_on(std::string(trimmed(lines[i].text)))) {
      replaces = true;
    } else if (lines[i].text.find(kTraceback) != std::string::npos) {
      if (auto one = raised_at(lines, i)) {
        if (replaces && !all.empty()) {
          all.pop_back();
        }
        all.push_back(*std::move(one));
      }
      replaces = false;
    }
  }
  return all;
}

std::optional<RootCause> root_cause_in(const Lines& lines) {
  auto line = std::ranges::find_if(
      lines, [](const RankLine& one) { return one.text.starts_with(kRootCause); });
  if (line == lines.end()) {
    return std::nullopt;
  }
  RootCause cause{static_cast<std::size_t>(line - lines.begin()), "", "", ""};
  const auto value = [](const std::string& text, std::string_view key) {
    const std::string inner(trimmed(text));
    const std::size_t colon = inner.find(':');
    return colon != std::string::npos && inner.starts_with(key)
               ? std::string(trimmed(inner.substr(colon + 1)))
               : "";
  };
  const auto first_word = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  for (; line != lines.end(); ++line) {
    if (const std::string rank = value(line->text, "rank "); !rank.empty()) {
      cause.rank = first_word(rank);
    } else if (const std::string code = value(line->text, "exitcode"); !code.empty()) {
      cause.exit_code = first_word(code);
    } else if (const std::string said = value(line->text, "traceback");
               said.starts_with("Signal")) {
      cause.message = said;
    }
  }
  return cause;
}

/// Where what the launcher says of the failure begins.
std::size_t end_of_child(const Lines& lines, const std::vector<Raised>& raised) {
  std::size_t end = lines.size();
  for (const Raised& one : raised) {
    if (is_of_child(one.text)) {
      end = std::min(end, one.begin);
    }
  }
  static const std::regex failed(R"(.*failed \(exitcode: -?\d+\) local_rank:.*)");
  for (std::size_t i = 0; i < end; ++i) {
    if (is_of_launcher(lines[i].text) && std::regex_match(lines[i].text, failed)) {
      end = i;
    }
  }
  return end;
}

/// Without the boxes of mpirun, lines of blanks and rules, events, and what launchers say.
std::vector<std::string> words_in(const Lines& lines, std::size_t end) {
  std::vector<std::string> words;
  std::optional<std::size_t> box;  // the first of `words` in it
  bool of_launcher = false;
  for (std::size_t i = 0; i < end; ++i) {
    const std::string text(trimmed(lines[i].text));
    if (is_rule(text)) {
      if (box && of_launcher) {
        words.resize(*box);
      }
      const bool closes = box && of_launcher;
      box = closes ? std::nullopt : std::optional(words.size());
      of_launcher = false;
      continue;
    }
    of_launcher = of_launcher || text.starts_with("mpirun ") || text.starts_with("mpiexec ") ||
                  text.starts_with("prterun ") || text.starts_with("Primary job ") ||
                  text.starts_with("Setting OMP_NUM_THREADS");
    if (!says_nothing(text) && !is_of_launcher(text) && !text.starts_with("{\"event\"")) {
      words.push_back(text);
    }
  }
  return words;
}

/// Whether the exception ended the program: little comes after it.
bool ends(const Raised& raised, const Lines& lines, std::size_t end) {
  const auto at = [&](std::size_t line) {
    return lines.begin() + static_cast<std::ptrdiff_t>(line);
  };
  return static_cast<std::size_t>(std::count_if(at(raised.end + 1), at(end), [](const auto& line) {
           return !says_nothing(line.text);
         })) <= kMostAfterException;
}

/// The exception of the rank that failed first, where ranks can be told from one another; else the
/// one that ended the program.
std::optional<std::string> exception_of(const Lines& lines, std::vector<Raised> raised,
                                        const std::optional<RootCause>& cause, std::size_t end) {
  std::erase_if(raised, [&](const Raised& one) {
    return is_of_child(one.text) || (one.begin >= end && !(cause && one.begin > cause->line));
  });
  if (raised.empty()) {
    return std::nullopt;
  }
  if (cause) {
    const auto of_rank = std::ranges::find_if(raised, [&](const Raised& one) {
      return one.rank && std::to_string(*one.rank) == cause->rank;
    });
    return of_rank != raised.end() ? of_rank->text : raised.front().text;
  }
  if (raised.front().rank != raised.back().rank) {
    return raised.front().text;
  }
  return ends(raised.back(), lines, end) ? std::optional(raised.back().text) : std::nullopt;
}

/// The lines of `output` without prefixes of their ranks.
Lines lines_of(const std::string& output) {
  const std::vector<std::string> raw = split_lines(output);
  Lines lines;
  bool labelled = false;
  for (const std::string& line : raw) {
    lines.push_back(without_prefix(line));
    labelled = labelled || (lines.back().rank && !lines.back().certain &&
                            lines.back().text.starts_with(kTraceback));
  }
  for (std::size_t i = 0; !labelled && i < raw.size(); ++i) {
    if (!lines[i].certain) {
      lines[i] = {.text = raw[i]};  // "3: x" may be the program's own
    }
  }
  return lines;
}

}  // namespace

std::string failure_reason(const std::string& output) {
  const Lines lines = lines_of(output);
  const std::vector<Raised> raised = raised_in(lines);
  const std::optional<RootCause> cause = root_cause_in(lines);
  const std::size_t end = end_of_child(lines, raised);
  if (const auto exception = exception_of(lines, raised, cause, end)) {
    return *exception;
  }
  const std::vector<std::string> words = words_in(lines, end);
  if (cause && (words.empty() || !cause->message.empty())) {
    return fmt::format(
        "rank {}: {}", cause->rank,
        cause->message.empty() ? fmt::format("exit code {}", cause->exit_code) : cause->message);
  }
  return words.empty() ? "" : words.back();
}

std::string failure_reason_in(const std::string& log) {
  return failure_reason(read_text_if_readable(log).value_or(""));
}

}  // namespace paceline::launch
