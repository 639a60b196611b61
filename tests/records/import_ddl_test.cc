// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "paceline/base/file.h"
#include "paceline/records/importers.h"
#include "paceline/records/json.h"
#include "paceline/records/samples.h"
#include "records/refusal.h"

namespace paceline::records {
namespace {

// Quoted from horovod/horovod, issue 712; printed by its
// examples/pytorch_synthetic_benchmark.py.
constexpr const char* kHorovod = R"(Model: resnet50
Batch size: 32
Number of GPUs: 4
Running warmup...
Running benchmark...
Iter #0: 108.3 img/sec per GPU
Iter #1: 107.3 img/sec per GPU
Iter #2: 109.3 img/sec per GPU
Iter #3: 108.7 img/sec per GPU
Iter #4: 107.6 img/sec per GPU
Iter #5: 108.8 img/sec per GPU
Iter #6: 107.6 img/sec per GPU
Iter #7: 108.6 img/sec per GPU
Iter #8: 107.5 img/sec per GPU
Iter #9: 108.3 img/sec per GPU
Img/sec per GPU: 108.2 +-1.2
Total img/sec on 4 GPU(s): 432.8 +-4.9
)";

TEST(ImportDdl, ReadsHorovodsLog) {
  const auto records = import_ddl(kHorovod, "theirs.log");
  ASSERT_EQ(records.size(), 1U);
  const RunRecord& record = records.front();
  EXPECT_EQ(record.source, Source::kImported);
  EXPECT_EQ(record.configuration.model, "resnet50");
  EXPECT_EQ(record.configuration.batch_size, 32);
  EXPECT_EQ(record.configuration.ranks, 4);
  EXPECT_EQ(record.configuration.device, "cuda");
  EXPECT_EQ(record.configuration.strategy, "fusion");
  ASSERT_EQ(record.ranks.size(), 4U);
  ASSERT_EQ(record.ranks[3].step_ns.size(), 10U);
  EXPECT_EQ(record.ranks[3].step_ns[1], 298'229'264);  // 32 / 107.3 s
  EXPECT_EQ(from_line(to_line(record)), record);
}

// horovodrun and `mpirun --tag-output` print the rank before each line.
TEST(ImportDdl, ReadsLinesBehindTheirRank) {
  std::string tagged;
  for (const std::string& line : split_lines(kHorovod)) {
    tagged += "[1,0]<stdout>:" + line + "\n";
  }
  EXPECT_TRUE(is_ddl_log(tagged, "theirs.log"));
  EXPECT_EQ(import_ddl(tagged, "theirs.log"),
            import_ddl(kHorovod, "theirs.log"));
}

// Quoted from crickett-hpe/hpc-ai-envs, examples/horovod/README.md; printed by
// horovod/horovod, examples/pytorch/pytorch_synthetic_benchmark.py.
constexpr const char* kHorovodOnTwoNodes = R"(NCCL version 2.20.5+cuda12.4
Model: resnet50
Batch size: 96
Number of GPUs: 8
Running warmup...
Running benchmark...
Iter #0: 1785.8 img/sec per GPU
Iter #1: 1787.9 img/sec per GPU
Iter #2: 1787.6 img/sec per GPU
Iter #3: 1784.7 img/sec per GPU
Iter #4: 1783.5 img/sec per GPU
Iter #5: 1785.2 img/sec per GPU
Iter #6: 1785.0 img/sec per GPU
Iter #7: 1782.4 img/sec per GPU
Iter #8: 1785.3 img/sec per GPU
Iter #9: 1784.1 img/sec per GPU
Img/sec per GPU: 1785.2 +-3.1
Total img/sec on 8 GPU(s): 14281.2 +-25.0
)";

TEST(ImportDdl, PassesOverLinesOfOtherPrograms) {
  const auto records = import_ddl(kHorovodOnTwoNodes, "theirs.log");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].configuration.batch_size, 96);
  EXPECT_EQ(records[0].configuration.ranks, 8);
  ASSERT_EQ(records[0].ranks.size(), 8U);
  EXPECT_EQ(records[0].ranks[7].step_ns.front(), 53'757'420);  // 96 / 1785.8 s
}

// The lines that HKBU-HPML/ddl-benchmarks, mgwfbp/bert_benchmark.py prints,
// which say neither its batch size nor which BERT; the name of the file does.
// No log of it was found: every rate is the mean that its table has for kName,
// results/2020-05-29/README.md: 1235.040 samples/s.
std::string of_bert(int iterations) {
  std::string text =
      "Running warmup...\nBERT Large Pretraining, Sentence len: 64\n"
      "Running benchmark...\n";
  for (int i = 0; i < iterations; ++i) {
    text += "Iter #" + std::to_string(i) + ": 154.4 sentences/sec per GPU\n";
  }
  return text +
         "Sen/sec per GPU: 154.4 +-0.0\nTotal sen/sec on 8 GPU(s): 1235.0 "
         "+-0.0\n";
}

constexpr const char* kName =
    "logs/pcie/rdma-1-method-mgwfbp-dnn-bert_base-bs-64-nworker-8-compressor-"
    "none-thres-0.log";

TEST(ImportDdl, TriesOfOneFileAreRunsOfTheCaseThatItsNameDescribes) {
  const auto records = import_ddl(of_bert(10) + of_bert(10), kName);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].run, 1);
  EXPECT_EQ(records[1].configuration.model, "bert-base");
  EXPECT_EQ(records[1].configuration.batch_size, 64);
  EXPECT_EQ(records[1].configuration.strategy, "mg-wfbp");
  EXPECT_EQ(records[1].configuration.sequence_length, 64);
  EXPECT_EQ(records[0].configuration.key(), records[1].configuration.key());
}

Configuration named(const std::string& name) {
  return import_ddl(of_bert(1), name).at(0).configuration;
}

TEST(ImportDdl, ReadsNetworkAndCodecFromTheNameOfAFile) {
  const auto of = [](const std::string& rdma,
                     const std::string& method,
                     const std::string& compressor) {
    return named("rdma-" + rdma + "-method-" + method +
                 "-dnn-bert-bs-8-nworker-8-compressor-" + compressor +
                 "-thres-0.log");
  };
  EXPECT_EQ(of("0", "wfbp", "none").label, "wfbp 10GbE");
  EXPECT_EQ(of("1", "wfbp", "none").label, "wfbp IB");
  EXPECT_EQ(of("2", "wfbp", "none").label, "wfbp IPoIB");
  EXPECT_EQ(of("0", "signum", "none").strategy, "bsp+sign");
  EXPECT_EQ(of("0", "efsignum", "none").strategy, "bsp+ef-sign");
  EXPECT_EQ(of("0", "eftopk", "none").strategy, "bsp+topk:density=0.001");
  EXPECT_EQ(of("0", "topk", "none").strategy, "bsp+topk:density=0.001");
  EXPECT_EQ(of("0", "mgwfbp", "signum").strategy, "mg-wfbp+sign");
  EXPECT_EQ(of("0", "mgwfbp", "signum").label, "mgwfbp+signum 10GbE");
}

TEST(ImportDdl, ReadsTheCommandInTheHeadOfOurOwnLogs) {
  const Configuration c =
      import_ddl(
          "# survey, 2026-01-31T17:45:00Z\n"
          "# paceline run --model bert-base --strategy "
          "wfbp:small-elements=8192 --ranks 8 --batch-size 16 "
          "--sequence-length 64 --device cpu --engine mpi --dtype bf16 "
          "--replay 'my profiles/b.json' --link '10Gbit, 50us' --threads 2 "
          "--channels-last --learning-rate 0.5 --ranks-per-host 1+1 --seed 7 "
          "--bucket-mb 4 --warmup 3 --env OMP_PROC_BIND=true\n" +
              of_bert(2),
          "ours.log")
          .at(0)
          .configuration;
  EXPECT_EQ(c.model, "bert-base");
  EXPECT_EQ(c.strategy, "wfbp:small-elements=8192");
  EXPECT_EQ(c.label, "");
  EXPECT_EQ(c.batch_size, 16);
  EXPECT_EQ(c.device, "cpu") << "its lines say GPU, as of any BERT";
  EXPECT_EQ(c.engine, "mpi");
  EXPECT_EQ(c.dtype, "bf16");
  EXPECT_EQ(c.replay, "my profiles/b.json");
  EXPECT_EQ(c.link, "10Gbit, 50us");
  EXPECT_EQ(c.threads, 2);
  EXPECT_TRUE(c.channels_last);
  EXPECT_EQ(c.learning_rate, 0.5);
  EXPECT_EQ(c.ranks_per_host, (std::vector<int>{1, 1}));
  EXPECT_EQ(c.seed, 7u);
  EXPECT_EQ(c.bucket_mb, 4);
  EXPECT_EQ(c.warmup, 3);
  EXPECT_EQ(c.env.at("OMP_PROC_BIND"), "true");
}

TEST(ImportDdl, RejectsACommandThatIsNotOurs) {
  const auto of = [](const std::string& flags) {
    return refusal([&] {
      import_ddl("# survey\n# paceline run " + flags + "\n" + of_bert(2),
                 "ours.log");
    });
  };
  EXPECT_EQ(of("--modle lenet"), "ours.log:2: '--modle' is no flag of a case");
  EXPECT_EQ(of("--ranks two"),
            "ours.log:2: --ranks 'two' is no number of that kind");
  EXPECT_EQ(of("--ranks"), "ours.log:2: --ranks has no value");
}

/// The lines that bytedance/byteps, example/pytorch/benchmark_byteps.py prints
/// on the first rank of each machine: here of two machines of eight ranks,
/// whose output went to one file.  No such file was found.  The lines "Iter" of
/// the first machine are quoted from bytedance/byteps, issue 78, of two
/// machines; those of the second from the same issue, of one machine; the other
/// lines follow from these by that program.
std::string of_byteps() {
  return R"(BytePS launching worker
BytePS launching worker
Model: resnet50
Batch size: 32
Number of GPUs: 16
Model: resnet50
Batch size: 32
Number of GPUs: 16
Running warmup...
Running warmup...
Running benchmark...
Running benchmark...
Iter #0: 33.5 img/sec per GPU
Iter #0: 87.9 img/sec per GPU
Iter #1: 34.2 img/sec per GPU
Iter #1: 172.0 img/sec per GPU
Iter #2: 44.3 img/sec per GPU
Iter #3: 44.0 img/sec per GPU
Iter #2: 165.7 img/sec per GPU
Iter #4: 30.9 img/sec per GPU
Iter #3: 172.7 img/sec per GPU
Iter #5: 43.4 img/sec per GPU
Img/sec per GPU: 38.4 +-11.0
Total img/sec on 16 GPU(s): 614.1 +-176.0
Iter #4: 178.4 img/sec per GPU
Iter #5: 175.2 img/sec per GPU
Img/sec per GPU: 158.7 +-62.5
Total img/sec on 16 GPU(s): 2538.4 +-999.5
)";
}

TEST(ImportDdl, ReadsTheWorkersOfBytePsFromOneLog) {
  const auto records = import_ddl(of_byteps() + of_byteps(), "byteps.log");
  ASSERT_EQ(records.size(), 2U);
  const RunRecord& record = records.front();
  EXPECT_EQ(record.configuration.label, "byteps");
  EXPECT_EQ(record.configuration.strategy, "wfbp+ps");
  EXPECT_EQ(record.configuration.ranks, 16);
  EXPECT_EQ(record.configuration.steps, 6);
  ASSERT_EQ(record.ranks.size(), 16U);
  for (const std::size_t rank : {0, 7, 8, 15}) {
    ASSERT_EQ(record.ranks[rank].step_ns.size(), 6U);
    EXPECT_EQ(record.ranks[rank].step_ns[4],
              rank < 8 ? 1'035'598'706 : 179'372'197);  // 32 / 30.9, / 178.4 s
  }
  EXPECT_EQ(record.warnings.front().seen,
            "the log has the rates of one rank on each of 2 machines");
  EXPECT_EQ(records[1].run, 1);
  EXPECT_EQ(records[1].ranks, record.ranks);
}

std::string ddl_refusal(const std::string& text, const std::string& path) {
  return refusal([&] { import_ddl(text, path); });
}

TEST(ImportDdl, RefusesWhatItCannotKnow) {
  EXPECT_EQ(ddl_refusal(of_bert(1), "bert.log").substr(0, 38),
            "bert.log:6: a run without its model; t");
  std::string cut(kHorovod);
  cut.resize(cut.find("Total"));
  EXPECT_EQ(ddl_refusal(cut, "a.log"),
            "a.log: the log ends before the 'Total' line of its last run");
  std::string zero(kHorovod);
  zero.replace(zero.find("108.3"), 5, "0.000");
  EXPECT_EQ(ddl_refusal(zero, "a.log"), "a.log:6: '0.000' is no rate");
}

TEST(ImportDdl, RefusesLogsInWhichAWorkerIsMissing) {
  std::string cut = of_byteps();
  cut.resize(cut.find("Img/sec per GPU: 158.7"));
  EXPECT_EQ(ddl_refusal(cut, "a.log"),
            "a.log: 2 workers begin a run and 1 end it, each with a 'Total' "
            "line; the log is cut off, or a worker failed");
  std::string odd = of_byteps();
  for (auto at = odd.find("on 16"); at != std::string::npos;
       at = odd.find("on 16")) {
    odd.replace(at, 5, "on 15");
  }
  EXPECT_EQ(ddl_refusal(odd, "a.log"),
            "a.log:28: of 15 ranks 2 workers tell, which must have equally "
            "many ranks and iterations");
  std::string skipped(kHorovod);
  skipped.replace(skipped.find("Iter #2"), 7, "Iter #3");
  EXPECT_EQ(ddl_refusal(skipped, "a.log"),
            "a.log:8: iteration 3 follows no iteration 2");
}

TEST(ImportDdl, RejectsALogThatSaysTwoThings) {
  std::string renamed = of_bert(1);
  EXPECT_EQ(ddl_refusal(renamed,
                        "rdma-0-method-wfbp-dnn-bert-bs-8-nworker-4-compressor-"
                        "none-thres-0.log"),
            "rdma-0-method-wfbp-dnn-bert-bs-8-nworker-4-compressor-none-thres-"
            "0.log:6: 8 ranks trained, but the name of the file says 4");
  const auto ours = [](const std::string& flags) {
    return "# paceline run " + flags + "\n" + kHorovod;
  };
  EXPECT_EQ(ddl_refusal(ours("--model resnet50 --ranks 8"), "a.log"),
            "a.log:18: 4 ranks trained, but the head of this log says 8");
  EXPECT_EQ(
      ddl_refusal(ours("--strategy bsp+ps:placement=apart --ranks 4"), "a.log"),
      "a.log:18: 4 ranks trained, but the head of this log says 4, of "
      "which some only serve");
  EXPECT_EQ(ddl_refusal(ours("--model lenet"), "a.log"),
            "a.log:2: model resnet50, but the head of this log says lenet");
  EXPECT_EQ(ddl_refusal(ours("--batch-size 8"), "a.log"),
            "a.log:3: batch size 32, but the head of this log says 8");
}

TEST(ImportDdl, RefusesDamagedLinesOfResults) {
  std::string iteration(kHorovod);
  iteration.replace(iteration.find("Iter #2: 109.3 img/sec per GPU"),
                    30,
                    "Iter #2: 109.3 im");
  EXPECT_EQ(ddl_refusal(iteration, "a.log"),
            "a.log:8: 'Iter #2: 109.3 im' is a line of results that is cut off "
            "or mixed with another");
  std::string total(kHorovod);
  total.resize(total.find("GPU(s): 432"));
  EXPECT_EQ(ddl_refusal(total, "a.log"),
            "a.log:17: 'Total img/sec on 4 ' is a line of results that is cut "
            "off or mixed with another");
}

}  // namespace
}  // namespace paceline::records
