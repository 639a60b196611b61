// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/command_output.h"

#include <string>

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

CommandOutput sample_output() {
  return {.heading = "lenet on a_b",
          .tables = {{.columns = {{.name = "codec", .align = Align::kLeft},
                                  {.name = "step", .unit = "ms"}},
                      .rows = {{.cells = {"topk", "1.50"}}},
                      .legend = "step: of\nthe slowest",
                      .text = "2 more\n\n* like it"},
                     {.columns = {{.name = "size"}}, .rows = {{.cells = {"25"}}}}},
          .command = "paceline run --cluster 'a b'",
          .command_notes = {"it runs on gloo", "it_trains"},
          .csv = {.columns = {{.name = "codec"}, {.name = "step_s"}},
                  .rows = {{.cells = {"topk", "0.0015"}}}},
          .json = {{"version", 1}, {"steps", 2}}};
}

TEST(CommandOutput, TableIsForATerminal) {
  EXPECT_EQ(render_output("table", sample_output()),
            "lenet on a_b\n"
            "codec  step, ms\n"
            "topk       1.50\n"
            "step: of\nthe slowest\n"
            "\n2 more\n\n* like it\n"
            "\nsize\n"
            "  25\n"
            "\n  paceline run --cluster 'a b'\n"
            "  it runs on gloo\n"
            "  it_trains\n");
  EXPECT_EQ(render_output("table", {.heading = "lenet"}), "lenet\n");
}

TEST(CommandOutput, MarkdownHasTheCommandAsCode) {
  EXPECT_EQ(render_output("markdown", sample_output()),
            "lenet on a\\_b\n\n"
            "| codec | step, ms |\n"
            "| :-- | --: |\n"
            "| topk | 1.50 |\n\n"
            "step: of  \nthe slowest\n\n"
            "2 more  \n  \n\\* like it\n\n"
            "| size |\n"
            "| --: |\n"
            "| 25 |\n\n"
            "```sh\npaceline run --cluster 'a b'\n```\n"
            "\nit runs on gloo  \nit\\_trains\n\n");
  EXPECT_EQ(render_output("markdown", {.heading = "lenet"}), "lenet\n\n");
}

TEST(CommandOutput, CsvHasTheValuesAlone) {
  EXPECT_EQ(render_output("csv", sample_output()), "codec,step_s\ntopk,0.0015\n");
}

TEST(CommandOutput, JsonHasTheCommandAmongTheValues) {
  EXPECT_EQ(Json::parse(render_output("json", sample_output())),
            (Json{{"version", 1},
                  {"steps", 2},
                  {"command", "paceline run --cluster 'a b'"},
                  {"command_notes", {"it runs on gloo", "it_trains"}}}));
  EXPECT_EQ(render_output("json", {.json = {{"version", 1}}}), "{\n  \"version\": 1\n}\n");
}

}  // namespace
}  // namespace paceline::report
