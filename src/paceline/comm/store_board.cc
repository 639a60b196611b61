// SPDX-License-Identifier: Apache-2.0
#include "paceline/comm/store_board.h"

#include <mutex>

#include "paceline/comm/failure.h"

namespace paceline::comm {
namespace {

class StoreBoard final : public launch::Board {
 public:
  explicit StoreBoard(c10::intrusive_ptr<c10d::Store> store)
      : store_(std::move(store)) {}

  void post(const std::string& key, const std::string& text) override {
    guarded([&] { store_->set(key, text); });
  }

  std::string post_first(const std::string& key,
                         const std::string& text) override {
    std::string now;
    guarded([&] { now = store_->compareSet(key, std::string(), text); });
    return now;
  }

  std::optional<std::string> read(const std::string& key) override {
    std::optional<std::string> text;
    guarded([&] {
      if (store_->check({key})) {
        text = store_->get_to_str(key);
      }
    });
    return text;
  }

 private:
  template <class Call>
  void guarded(const Call& call) {
    const std::lock_guard lock(mutex_);
    try {
      call();
    } catch (...) {
      rethrow_as_world_error("the job's store");
    }
  }

  c10::intrusive_ptr<c10d::Store> store_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<launch::Board> make_store_board(
    const c10::intrusive_ptr<c10d::Store>& store) {
  return std::make_unique<StoreBoard>(store->clone());
}

}  // namespace paceline::comm
