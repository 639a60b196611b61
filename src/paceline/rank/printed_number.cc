// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/printed_number.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/rank/step_reader.h"

namespace paceline::rank {
namespace {

bool is_digit(char one) { return one >= '0' && one <= '9'; }

/// How many digits stand at `at`.
std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && is_digit(text[at + count])) {
    ++count;
  }
  return count;
}

/// Whether the number that ends before `end` goes on there: 5|6, 5|.6, 5|,6, 5|e6.
bool continues_at(std::string_view text, std::size_t end) {
  if (end >= text.size()) {
    return false;
  }
  switch (text[end]) {
    case '.':
    case ',':  // thousands, or a decimal comma
      return digits_at(text, end + 1) > 0;
    case 'e':
    case 'E': {
      const bool sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
      return digits_at(text, end + (sign ? 2 : 1)) > 0;
    }
    default:
      return is_digit(text[end]);
  }
}

/// Whether a number stands right before the one that begins at `begin`.
bool began_before(std::string_view text, std::size_t begin) {
  if (begin == 0) {
    return false;
  }
  const char last = text[begin - 1];
  if (is_digit(last)) {
    return true;
  }
  return (last == '.' || last == ',') && begin > 1 && is_digit(text[begin - 2]);
}

/// The whole number that holds [begin, end).
std::string whole_number(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view kOfNumbers = "0123456789.,eE+-";
  while (begin > 0 &&
         (is_digit(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == ',')) {
    --begin;
  }
  while (end < text.size() && kOfNumbers.find(text[end]) != std::string_view::npos) {
    ++end;
  }
  return std::string(text.substr(begin, end - begin));
}

/// Nothing where the whole of `text` is no number.
std::optional<double> number_in_text(const std::string& text) {
  static const std::regex number(
      R"([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d{1,3})?)");
  if (!std::regex_match(text, number) || text.find_first_of("0123456789") == std::string::npos) {
    return std::nullopt;
  }
  std::string plain = text;
  std::erase(plain, ',');
  char* end = nullptr;
  const double value = std::strtod(plain.c_str(), &end);
  const bool whole = end == plain.c_str() + plain.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_not_finite(const std::string& text) {
  static const std::regex word("[-+]?(?:nan|inf|infinity)", std::regex::icase);
  return std::regex_match(text, word);
}

}  // namespace

double printed_number(const std::smatch& match, const std::string& line) {
  const std::string text = match[1].str();
  if (is_not_finite(text)) {
    throw OutsideFailure("not-finite", fmt::format("a value is not finite: '{}'", shown(line)));
  }
  const std::string all = match.prefix().str() + match.str() + match.suffix().str();
  const auto begin = static_cast<std::size_t>(match.position(1));
  const std::size_t end = begin + text.size();
  // What the expression itself matches beside its group, it means.
  const bool at_begin = match.position(1) == match.position(0);
  const bool at_end = match.length(0) == match.position(1) - match.position(0) + match.length(1);
  if ((at_begin && began_before(all, begin)) || (at_end && continues_at(all, end))) {
    throw OutsideFailure(
        "bad-output", fmt::format("--step-regex finds '{}' inside the number '{}', in '{}'; its "
                                  "group must take the whole number, as ([0-9.,e+-]+)",
                                  shown(text), shown(whole_number(all, begin, end)), shown(line)));
  }
  const auto value = number_in_text(text);
  if (!value) {
    throw OutsideFailure("bad-output",
                         fmt::format("--step-regex finds '{}', which is no number, in '{}'",
                                     shown(text), shown(line)));
  }
  return *value;
}

std::optional<std::string> turned_over(const std::string& pattern, bool of_rate) {
  // A letter after a backslash is a part of the expression.
  static const std::regex rate(R"((^|[^A-Za-z\\])([A-Za-z]+)/(s|sec|second)(?![A-Za-z]))");
  static const std::regex time(R"((^|[^A-Za-z\\])(s|sec)/([A-Za-z]+))");
  const std::regex& unit = of_rate ? rate : time;
  return std::regex_search(pattern, unit)
             ? std::optional(std::regex_replace(pattern, unit, "$1$3/$2"))
             : std::nullopt;
}

}  // namespace paceline::rank
