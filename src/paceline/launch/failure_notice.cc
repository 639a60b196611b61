// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/failure_notice.h"

#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/clock.h"

namespace paceline::launch {
namespace {

constexpr const char* kCause = "failure/cause";

std::string failure_key(int rank) {
  return fmt::format("failure/{}", rank);
}

std::string encode(const FailureNotice& notice) {
  return nlohmann::json{{"rank", notice.rank},
                        {"host", notice.host},
                        {"text", notice.text},
                        {"consequence", notice.consequence},
                        {"exit_code", notice.exit_code}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<FailureNotice> read_notice(Board& board, const std::string& key) {
  const auto text = board.read(key);
  const auto json =
      text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!json.is_object()) {
    return std::nullopt;
  }
  return FailureNotice{json.value("rank", 0),
                       json.value("host", ""),
                       json.value("text", ""),
                       json.value("consequence", false),
                       json.value("exit_code", 3)};
}

bool post_cause(Board& board, const FailureNotice& notice) {
  const auto text = encode(notice);
  return board.post_first(kCause, text) == text;
}

// Ranks that filed nothing, did not finish, and stood still between two looks.
std::optional<FailureNotice> find_dead(Board& board,
                                       HeartJudge& judge,
                                       const std::vector<std::string>& hosts) {
  judge.look(board, kSteadyClock.now());
  while (const auto silence = judge.lost()) {
    if (failure_of(board, silence->rank)) {
      judge.dismiss(silence->rank);
      continue;
    }
    const auto& host = hosts[static_cast<std::size_t>(silence->rank)];
    const std::string where =
        silence->last ? whereabouts(*silence->last) : "before it began";
    return FailureNotice{
        silence->rank, host, fmt::format("ended without a word {}", where)};
  }
  return std::nullopt;
}

}  // namespace

std::string sentence(const FailureNotice& notice) {
  if (notice.exit_code == 2) {
    return notice.text;
  }
  return fmt::format(
      "rank {} on host {}: {}", notice.rank, notice.host, notice.text);
}

FailureNotice notice_of(const Silence& silence, const std::string& host) {
  const auto seconds = std::chrono::duration<double>(silence.since).count();
  const std::string where =
      silence.last ? whereabouts(*silence.last) : "before it began";
  return {silence.rank,
          host,
          fmt::format("stopped answering {:.0f} s ago {}", seconds, where)};
}

bool post_failure(Board& board, const FailureNotice& notice) {
  board.post_first(failure_key(notice.rank), encode(notice));
  return !notice.consequence && post_cause(board, notice);
}

std::optional<FailureNotice> job_failure(Board& board) {
  return read_notice(board, kCause);
}

std::optional<FailureNotice> failure_of(Board& board, int rank) {
  return read_notice(board, failure_key(rank));
}

std::optional<std::string> explain_failure(
    Board& board,
    const FailureNotice& mine,
    const std::vector<std::string>& hosts,
    std::chrono::milliseconds patience) {
  if (post_failure(board, mine)) {
    return sentence(mine);
  }
  if (!mine.consequence) {
    return std::nullopt;
  }
  std::vector<int> others;
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    if (rank != mine.rank) {
      others.push_back(rank);
    }
  }
  // A heart that is silent for most of our patience has stopped.
  HeartJudge judge(others, patience * 3 / 4);
  const auto deadline = kSteadyClock.now() + patience;
  while (kSteadyClock.now() < deadline) {
    if (job_failure(board)) {
      return std::nullopt;
    }
    if (const auto dead = find_dead(board, judge, hosts)) {
      return post_cause(board, *dead) ? std::optional(sentence(*dead))
                                      : std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return post_cause(board, mine) ? std::optional(sentence(mine)) : std::nullopt;
}

}  // namespace paceline::launch
