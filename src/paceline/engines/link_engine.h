// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace paceline::engines {

class Engine;  // engines/engine.h
class Link;    // engines/link.h

/// `engine`, with all its channels behind one emulated link.
std::unique_ptr<Engine> behind_link(std::unique_ptr<Engine> engine,
                                    std::shared_ptr<Link> link);

}  // namespace paceline::engines
