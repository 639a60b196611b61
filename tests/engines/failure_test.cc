// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/failure.h"

#include <gtest/gtest.h>

namespace paceline::engines {
namespace {

// Texts as gloo and c10d of PyTorch 2.13 word them.
constexpr const char* kReset =
    "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer "
    "[127.0.0.1]:40042";
constexpr const char* kTimedOut =
    "[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 5000ms "
    "for recv operation to complete";

TEST(Failure, texts_say_whose_fault_it_is) {
  EXPECT_EQ(classify_failure(kReset), FailureKind::kPeerLost);
  EXPECT_EQ(classify_failure("read: Connection reset by peer"), FailureKind::kPeerLost);
  EXPECT_EQ(classify_failure(kTimedOut), FailureKind::kTimeout);
  EXPECT_EQ(classify_failure("bad_alloc"), FailureKind::kOther);
}

TEST(Failure, sentences_start_with_the_operation) {
  EXPECT_EQ(describe_failure(std::runtime_error(kReset), "all-reduce, 9.4 MB"),
            "all-reduce, 9.4 MB: connection to a peer lost (Connection closed by peer "
            "[127.0.0.1]:40042)");
  EXPECT_EQ(describe_failure(std::runtime_error(kTimedOut), "all-reduce"),
            "all-reduce: no answer from a peer (Timed out waiting 5000ms for recv operation to "
            "complete)");
  EXPECT_EQ(describe_failure(std::runtime_error("odd\nframe #0"), "all-reduce"), "all-reduce: odd");
}

TEST(Failure, engines_add_no_places_and_no_advice) {
  EXPECT_EQ(
      describe_failure(
          WorldError("step 9: exchange failed: [/w/gloo/tcp/pair.cc:537] Read error [127.0.0.1]:6: "
                     "Connection reset by peer. This is typically caused by a remote worker "
                     "hanging or bugs in the application. Check the logs. GLHF!"),
          "failed"),
      "step 9: exchange failed: Read error [127.0.0.1]:6: Connection reset by peer");
}

TEST(Failure, our_own_sentences_stay_and_keep_their_kind) {
  EXPECT_EQ(describe_failure(WorldError("as it is"), "all-reduce"), "as it is");
  try {
    try {
      throw std::runtime_error(kReset);
    } catch (...) {
      rethrow_as_world_error("broadcast");
    }
  } catch (const WorldError& error) {
    EXPECT_EQ(classify_failure(error.what()), FailureKind::kPeerLost);
  }
  EXPECT_THROW(
      {
        try {
          throw UsageError("no");
        } catch (...) {
          rethrow_as_world_error("broadcast");
        }
      },
      UsageError);
}

}  // namespace
}  // namespace paceline::engines
