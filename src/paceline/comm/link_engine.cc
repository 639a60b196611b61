// SPDX-License-Identifier: Apache-2.0
#include "paceline/comm/link_engine.h"

#include <utility>

#include "paceline/comm/engine.h"
#include "paceline/comm/link.h"

namespace paceline::comm {
namespace {

class LinkEngine final : public Engine {
 public:
  LinkEngine(std::unique_ptr<Engine> engine, std::shared_ptr<Link> link)
      : engine_(std::move(engine)), link_(std::move(link)) {}

  std::string_view name() const override { return engine_->name(); }

  std::unique_ptr<Channel> connect(const ChannelSpec& spec) override {
    ChannelSpec linked = spec;
    linked.link = link_;
    return engine_->connect(linked);
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Link> link_;
};

}  // namespace

std::unique_ptr<Engine> behind_link(std::unique_ptr<Engine> engine,
                                    std::shared_ptr<Link> link) {
  return std::make_unique<LinkEngine>(std::move(engine), std::move(link));
}

}  // namespace paceline::comm
