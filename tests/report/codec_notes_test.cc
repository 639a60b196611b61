// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "paceline/report/summary_json.h"
#include "paceline/report/summary_notes.h"
#include "report/fixed_records.h"

namespace paceline::report {
namespace {

using records::RunRecord;

RunRecord run_of(const std::string& strategy, double loss) {
  RunRecord r = fixed_record({strategy, strategy, 2, 1});
  r.training = records::Training{loss};
  r.wire.measured_per_step = strategy == "fusion" ? 41'000'000 : 1'000'000;
  return r;
}

std::vector<std::string> notes_of(const std::vector<RunRecord>& records) {
  return codec_notes(summarize(records).at(0).rows);
}

// 40 MB saved in 32 ms: 1.25 GB/s, 10 Gbit/s.
TEST(CodecNotes, HaveTheBreakEvenBandwidthAndBothLosses) {
  RunRecord coded = run_of("fusion+sign", 1.5);
  coded.coding = records::Coding{.ns_per_step = 32'000'000, .plain_bytes_per_step = 41'000'000};
  const auto notes = notes_of({run_of("fusion", 1.25), coded});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("coding 32 ms a step"), std::string::npos);
  EXPECT_NE(notes[0].find("break-even bandwidth 10 Gbit/s"), std::string::npos) << notes[0];
  EXPECT_TRUE(notes[0].ends_with("last loss 1.5, without the codec 1.25"));
  EXPECT_TRUE(notes_of({coded})[0].ends_with("; last loss 1.5"));
}

// On both sides of 10 Gbit/s, and at it, where nothing is gained.
TEST(CodecNotes, SayWhetherTheCodecPaysOnTheCasesLink) {
  const auto note = [](const std::string& link) {
    RunRecord plain = run_of("fusion", 1.25);
    RunRecord coded = run_of("fusion+sign", 1.5);
    coded.coding = records::Coding{.ns_per_step = 32'000'000, .plain_bytes_per_step = 41'000'000};
    plain.configuration.link = coded.configuration.link = link;
    for (std::int64_t& ns : plain.ranks[0].step_ns) {
      ns *= 2;
    }
    return notes_of({plain, coded}).at(0);
  };
  EXPECT_NE(note("8Gbit,50us")
                .find("bandwidth 10 Gbit/s, above the link's 8 "
                      "Gbit/s: it pays here, overlap not counted; "),
            std::string::npos)
      << note("8Gbit,50us");
  for (const char* link : {"10Gbit,50us", "25Gbit"}) {
    EXPECT_NE(note(link).find(": it does not pay here, overlap not counted; "), std::string::npos)
        << note(link);
  }
  EXPECT_NE(note("").find("bandwidth 10 Gbit/s; step "), std::string::npos) << note("");
  EXPECT_EQ(note("any text").find("link's"), std::string::npos);
  EXPECT_NE(note("").find("ms, without the codec 2"), std::string::npos) << note("");
}

TEST(CodecNotes, JsonAndCsvHaveTheBreakEvenBandwidth) {
  RunRecord coded = run_of("fusion+sign", 1.5);
  coded.coding = records::Coding{.ns_per_step = 32'000'000, .plain_bytes_per_step = 41'000'000};
  const std::vector<RunRecord> both{run_of("fusion", 1.25), coded};
  const Json cases = Json::parse(render_json(both))["cases"];
  EXPECT_TRUE(cases[0]["break_even_bits_per_s"].is_null());
  EXPECT_EQ(cases[1]["break_even_bits_per_s"].get<double>(), 1e10);
  EXPECT_EQ(cases[1]["coding_s_per_step"].get<double>(), 0.032);
  EXPECT_EQ(cases[1]["plain_wire_bytes_per_rank_per_step"].get<int>(), 41'000'000);
  EXPECT_EQ(cases[1]["last_loss"].get<double>(), 1.5);
  EXPECT_TRUE(cases[1]["link_bits_per_s"].is_null());
  EXPECT_NE(render_csv(both).find(",0.032,41000000,10000000000.0,,1.5,"), std::string::npos)
      << render_csv(both);
}

TEST(CodecNotes, JsonHasTheRateOfTheLink) {
  RunRecord record = run_of("fusion", 1.25);
  record.configuration.link = "8Gbit,50us";
  const std::vector<RunRecord> one{record};
  const Json cases = Json::parse(render_json(one))["cases"];
  EXPECT_EQ(cases[0]["link_bits_per_s"].get<double>(), 8e9);
}

TEST(CodecNotes, SayWhereNothingIsSaved) {
  RunRecord coded = run_of("fusion+ef-sign", 1.5);
  coded.coding = records::Coding{.ns_per_step = 1, .plain_bytes_per_step = 9};
  EXPECT_NE(notes_of({coded})[0].find("it saves no bytes among so many ranks"), std::string::npos);
  EXPECT_TRUE(notes_of({run_of("fusion", 1)}).empty());
}

}  // namespace
}  // namespace paceline::report
