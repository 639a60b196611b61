// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/trace.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paceline::records {
namespace {

using nlohmann::json;

json trace_of(const std::vector<Span>& spans, const std::map<int, std::string>& names = {}) {
  std::ostringstream out;
  write_trace(out, spans, {.ranks = names});
  return json::parse(out.str());
}

Span span(int rank, Track track, const std::string& name, std::int64_t start_ns,
          std::int64_t duration_ns) {
  Span s;
  s.rank = rank;
  s.track = track;
  s.name = name;
  s.category = "test";
  s.start_ns = start_ns;
  s.duration_ns = duration_ns;
  return s;
}

// The complete events of a trace by name.
std::map<std::string, json> events_of(const json& trace) {
  std::map<std::string, json> events;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") {
      events[event.at("name").get<std::string>()] = event;
    }
  }
  return events;
}

// The name that metadata of `kind` gives to a process or thread.
std::string name_in(const json& trace, const std::string& kind, int rank, int thread) {
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("name") == kind && event.at("pid") == rank && event.at("tid") == thread) {
      return event.at("args").at("name").get<std::string>();
    }
  }
  return "";
}

TEST(Trace, EmptyIsStillATrace) { EXPECT_TRUE(trace_of({}).at("traceEvents").empty()); }

TEST(Trace, TimesAreMicrosecondsSinceTheFirstSpan) {
  Span second = span(1, Track::kComm, "reduce", 7'001'234, 500);
  second.args = {{"bytes", 4096}};
  const auto events =
      events_of(trace_of({second, span(0, Track::kForward, "conv", 7'000'000, 1'500)}));
  EXPECT_EQ(events.at("conv").at("ts"), 0.0);
  EXPECT_EQ(events.at("conv").at("dur"), 1.5);
  EXPECT_EQ(events.at("reduce").at("ts"), 1.234);
  EXPECT_EQ(events.at("reduce").at("dur"), 0.5);
  EXPECT_EQ(events.at("reduce").at("pid"), 1);
  EXPECT_EQ(events.at("reduce").at("args").at("bytes"), 4096);
  EXPECT_FALSE(events.at("conv").contains("args"));
}

TEST(Trace, ProcessesAreRanksAndThreadsAreTracks) {
  const json trace = trace_of(
      {span(0, Track::kForward, "a", 0, 1), span(3, Track::kComm, "b", 0, 1)}, {{3, "node-b"}});
  const auto events = events_of(trace);
  EXPECT_EQ(name_in(trace, "process_name", 0, 0), "rank 0");
  EXPECT_EQ(name_in(trace, "process_name", 3, 0), "rank 3 (node-b)");
  EXPECT_EQ(name_in(trace, "thread_name", 0, events.at("a").at("tid")), "forward");
  EXPECT_EQ(name_in(trace, "thread_name", 3, events.at("b").at("tid")), "communication");
}

TEST(Trace, SectionsAreProcessesOfTheirOwn) {
  Span other = span(1, Track::kForward, "b", 50, 1);
  other.section = 1;
  std::ostringstream out;
  write_trace(out, {span(1, Track::kForward, "a", 0, 1), other},
              {.ranks = {{1, "node"}}, .sections = {"bsp", "wfbp"}});
  const json trace = json::parse(out.str());
  const auto events = events_of(trace);
  const int first = events.at("a").at("pid"), second = events.at("b").at("pid");
  EXPECT_NE(first, second);
  EXPECT_EQ(name_in(trace, "process_name", first, 0), "bsp: rank 1 (node)");
  EXPECT_EQ(name_in(trace, "process_name", second, 0), "wfbp: rank 1 (node)");
}

TEST(Trace, NestedSpansShareARowAndCrossingOnesDoNot) {
  const json trace =
      trace_of({span(0, Track::kComm, "outer", 0, 100), span(0, Track::kComm, "inner", 10, 20),
                span(0, Track::kComm, "crossing", 50, 100), span(0, Track::kComm, "after", 100, 10),
                span(1, Track::kComm, "elsewhere", 50, 100)});
  const auto events = events_of(trace);
  const auto row = [&](const char* name) { return events.at(name).at("tid"); };
  EXPECT_EQ(row("inner"), row("outer"));
  EXPECT_NE(row("crossing"), row("outer"));
  EXPECT_EQ(row("after"), row("outer"));
  EXPECT_EQ(row("elsewhere"), row("outer"));
  EXPECT_EQ(name_in(trace, "thread_name", 0, row("crossing")), "communication 2");
}

TEST(Trace, NamesMayHoldAnything) {
  const auto events = events_of(trace_of({span(0, Track::kUpdate, "a\"b\\c\n\x01\xff", 0, 1)}));
  EXPECT_TRUE(events.contains("a\"b\\c\n\x01\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace paceline::records
