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
// If more lines than this follow an exception, it was caught and the program went on.
constexpr std::ptrdiff_t kMostAfterException = 12;

using Lines = std::vector<RankLine>;

/// The exception at the end of a Python traceback.
struct Raised {
  std::size_t line = 0;
  std::string text;
  std::optional<int> rank{};
};

/// Torchrun's summary of the rank that failed first.
struct RootCause {
  std::optional<int> rank;
  std::string exit_code, traceback;
};

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Whether a line has no letters or digits: "=====", "-----", blanks.
bool says_nothing(const std::string& line) {
  return std::ranges::none_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
}

/// Whether launchers or their libraries write such a line themselves.
bool is_of_launcher(const std::string& line) {
  // The first pattern matches "E1128 22:59:43.320000 16572 torch/distributed/elastic/..." of
  // torchrun.
  static const std::regex words(
      R"( *([WEIF]\d{4} \d\d:\d\d:\d\d\.\d+ .*torch/distributed/|)"
      R"((srun|slurmstepd)\b.*(error:|exited|Force Terminated|CANCELLED|signal)|)"
      R"((mpirun|mpiexec|prterun)\b|Primary job |a non-zero exit code\.|Process name:|)"
      R"(Exit code:|Setting OMP_NUM_THREADS|\{"event").*)");
  return std::regex_match(line, words);
}

/// Whether the exception is one by which a launcher reports the failure of its child.
bool is_of_child(const std::string& exception) {
  return exception.find("ChildFailedError") != std::string::npos ||
         exception.find("CalledProcessError") != std::string::npos ||
         exception.find("SignalException") != std::string::npos;
}

/// Whether the line says that the next traceback is of an exception that the preceding one led to.
bool goes_on(const std::string& line) {
  return line.starts_with("During handling of the above exception") ||
         line.starts_with("The above exception was the direct cause");
}

/// The exception of the traceback that begins at line `begin`. Lines of other ranks in between are
/// skipped if prefixes identify them.
std::optional<Raised> raised_at(const Lines& lines, std::size_t begin) {
  const std::size_t base = indent_of(lines[begin].text);
  for (std::size_t i = begin + 1; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    if (lines[i].rank == lines[begin].rank && !says_nothing(text) && indent_of(text) <= base &&
        !is_of_launcher(text)) {
      return Raised{i, std::string(trimmed(text)), lines[begin].rank};
    }
  }
  return std::nullopt;
}

/// The program's exceptions in order, without those that led to another exception.
std::vector<Raised> raised_in(const Lines& lines) {
  std::vector<Raised> all;
  bool replaces = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (goes_on(std::string(trimmed(lines[i].text)))) {
      replaces = true;
    } else if (lines[i].text.find(kTraceback) != std::string::npos) {
      const auto one = raised_at(lines, i);
      if (one && !is_of_child(one->text)) {
        if (replaces && !all.empty()) {
          all.pop_back();
        }
        all.push_back(*one);
      }
      replaces = false;
    }
  }
  return all;
}

std::optional<RootCause> root_cause_in(const std::string& output) {
  constexpr std::size_t kLongest = 2000;
  static const std::regex parts(
      R"(\brank +: (\d+)[\s\S]*?\bexitcode +: (-?\d+)[\s\S]*?\btraceback : (.*))");
  const std::size_t begin = output.find("Root Cause (first observed failure):");
  std::smatch found;
  const std::string said = begin == std::string::npos ? "" : output.substr(begin, kLongest);
  if (!std::regex_search(said, found, parts)) {
    return std::nullopt;
  }
  return RootCause{number_from<int>(found[1].str()), found[2], found[3]};
}

/// The exception of the rank that failed first, if ranks can be told apart; else the exception that
/// ended the program.
std::optional<std::string> exception_of(const Lines& lines, const std::optional<RootCause>& cause) {
  const std::vector<Raised> raised = raised_in(lines);
  if (raised.empty()) {
    return std::nullopt;
  }
  if (cause) {
    const auto of_rank = std::ranges::find(raised, cause->rank, &Raised::rank);
    return of_rank != raised.end() ? of_rank->text : raised.front().text;
  }
  const Raised& last = raised.back();
  if (raised.front().rank != last.rank) {
    return raised.front().text;
  }
  const auto after =
      std::count_if(lines.begin() + static_cast<std::ptrdiff_t>(last.line) + 1, lines.end(),
                    [](const RankLine& line) { return !says_nothing(line.text); });
  return after <= kMostAfterException ? std::optional(last.text) : std::nullopt;
}

/// The program's own last line before torchrun's report of the failure; empty if there is none.
std::string last_words(const Lines& lines) {
  static const std::regex failed(R"(.*failed \(exitcode: -?\d+\) local_rank:.*)");
  std::string last;
  for (const RankLine& line : lines) {
    const std::string text(trimmed(line.text));
    if (std::regex_match(text, failed) || text.ends_with("ChildFailedError:")) {
      break;
    }
    if (!says_nothing(text) && !is_of_launcher(text)) {
      last = text;
    }
  }
  return last;
}

/// The lines of `output` without the prefixes of their ranks.
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
      lines[i] = {.text = raw[i]};  // "3: x" may be the program's own text
    }
  }
  return lines;
}

}  // namespace

std::string failure_reason(const std::string& output) {
  const Lines lines = lines_of(output);
  const std::optional<RootCause> cause = root_cause_in(output);
  if (const auto exception = exception_of(lines, cause)) {
    return *exception;
  }
  const bool by_signal = cause && cause->traceback.starts_with("Signal");
  std::string words = last_words(lines);
  if (cause && (words.empty() || by_signal)) {
    return fmt::format(
        "rank {}: {}", *cause->rank,
        by_signal ? cause->traceback : fmt::format("exit code {}", cause->exit_code));
  }
  return words;
}

std::string failure_reason_in(const std::string& log) {
  return failure_reason(read_text_if_readable(log).value_or(""));
}

}  // namespace paceline::launch
