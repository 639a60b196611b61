// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The lines of DLPerf's logs, a format for each framework and network.
namespace paceline::records::dlperf {

enum class Measure : std::uint8_t {
  kStamp,         // the line's time: the step ended then
  kSeconds,       // how long the step took
  kMilliseconds,  // how long the step took
  kGlobalRate,    // samples/s of all devices
  kStepRate,      // steps/s, summed over the nodes
  kEpochs         // milliseconds of steps together, and of each of them
};

// The last step before the window is 20, or 19 where the log has a step 0.
constexpr int kAsNumbered = 0;

// What a framework's log has for each step, by DLPerf's own extractors.
struct Format {
  const char* framework;
  const char* marker;  // a line of a step holds it
  Measure measure;
  const char* number;     // regular expression of the number, or of the stamp
  const char* step;       // of the step's number, the product of its groups;
                          // empty: lines are counted
  int last_skipped;       // the number of the last step before the window
  const char* extractor;  // what the original computes from it
  int first_counted = 1;  // the step of the first line, where lines are counted
};

constexpr const char* kStampNumber =
    R"((\d{4})-(\d{1,2})-(\d{1,2})\s(\d{1,2}):(\d{1,2}):(\d{1,2})[.,](\d{1,6}))";

// The time stamp of absl's log lines, which has no year.  kLeapYear takes the
// year's place, since a leap year has all days.
constexpr const char* kAbslStamp =
    R"([IWE](\d{2})(\d{2}) (\d{1,2}):(\d{1,2}):(\d{1,2})\.(\d{1,6}))";
constexpr int kLeapYear = 2020;
constexpr std::size_t kGroupsFromMonth = 6;

constexpr const char* kUnixStamp = R"((\d{9,10}\.\d+)\s*$)";

// "Batch [20]", and of MXNet's Speedometer "Batch [19-20]".
constexpr const char* kBatchNumber = R"(Batch ?\[(?:\d+-)?(\d{1,9})\])";

constexpr const char* kEpochMarker = "epoch time: ";

constexpr auto kFormats = std::to_array<Format>({
    {"OneFlow",
     "train: epoch ",
     Measure::kStamp,
     kUnixStamp,
     R"(iter (\d{1,9}),)",
     20,
     "stamps of iterations 20 and 120"},
    {"OneFlow",
     "total_loss: ",
     Measure::kStamp,
     kUnixStamp,
     R"(step: (\d{1,9}),)",
     19,
     "stamps of iterations 19 and 119"},
    {"NGC TensorFlow 1.x",
     " throughput_train : ",
     Measure::kStamp,
     kStampNumber,
     R"(Iteration: (\d{1,9})\b)",
     20,
     "stamps of iterations 20 and 120"},
    {"PyTorch",
     "Epoch: [0][",
     Measure::kSeconds,
     R"(Time +(\d+\.?\d*) \()",
     R"(Epoch: \[0\]\[ *(\d{1,9})/)",
     19,
     "mean of the printed times of lines 21 to 120 after the sixth step, those "
     "of all ranks of a node in turn"},
    {"NGC PyTorch",
     "Epoch: 0 Iteration: ",
     Measure::kStamp,
     kStampNumber,
     R"(Iteration: (\d{1,9}) )",
     20,
     "stamps of lines 20 and 120 after the fifth"},
    {"NGC PyTorch",
     "Training Iteration: ",
     Measure::kStamp,
     kStampNumber,
     R"(Training Iteration: (\d{1,9})\b)",
     20,
     "stamps of lines 20 and 120 after the fifth"},
    {"NGC TensorFlow 1.x",
     " imgs_per_sec ",
     Measure::kGlobalRate,
     R"(imgs_per_sec : (\d+\.?\d*))",
     "",
     20,
     "mean of the printed rates",
     21},
    {"NGC MXNet",
     " Epoch[0] Batch ",
     Measure::kGlobalRate,
     R"(Speed: (\d+\.?\d*) samples/sec)",
     kBatchNumber,
     kAsNumbered,
     "mean of the printed rates"},
    {"MXNet",
     "Epoch[0] Batch[",
     Measure::kGlobalRate,
     R"(Speed: (\d+\.?\d*) samples/sec)",
     kBatchNumber,
     kAsNumbered,
     "mean of the printed rates"},
    {"PaddlePaddle",
     "elapse ",
     Measure::kSeconds,
     R"(elapse (\d+\.?\d*) sec)",
     R"(train batch (\d{1,9})\b)",
     19,
     "mean of batch / elapse"},
    // A step of all nodes counts as many steps as there are nodes.
    {"PaddlePaddle",
     " speed: ",
     Measure::kStepRate,
     R"(speed: (\d+\.?\d*) steps/s)",
     R"(\bstep: (\d{1,9}),)",
     20,
     "mean of the printed rates"},
    {"MXNet",
     "throughput=",
     Measure::kMilliseconds,
     R"(latency=(\d+\.?\d*) ms/batch)",
     R"(\[step (\d{1,9})\])",
     20,
     "mean of batch / latency, median over ranks"},
    {"TensorFlow 2.x",
     "TimeHistory: ",
     Measure::kStamp,
     kAbslStamp,
     R"(between steps \d+ and (\d{1,9}))",
     100,
     "mean of the printed rates of steps 100 to 600"},
    {"TensorFlow 2.x",
     "Train Step: ",
     Measure::kStamp,
     kAbslStamp,
     R"(Train Step: (\d{1,9})/)",
     20,
     "stamps of lines 20 and 120"},
    // A rank writes a line of the loss, which has the step, then one of times.
    {"MindSpore",
     kEpochMarker,
     Measure::kEpochs,
     R"(epoch time: (\d+\.?\d*) ms, per step time: (\d+\.?\d*) ms)",
     R"((?:epoch: (\d{1,4}) )?step: (\d{1,5}), (?:loss is|outputs are) )",
     20,
     "mean over ranks of the printed times"},
});

}  // namespace paceline::records::dlperf
