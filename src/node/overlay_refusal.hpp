// When an operation cannot even begin. Of Overlay's own source files only.
#pragma once

#include <memory>

#include <canopy/error.hpp>

#include "base/text.hpp"
#include "node/overlay.hpp"

namespace canopy::node {

// True if so; it has failed then.
template <class... Results>
bool Overlay::refuse(const std::shared_ptr<Operation<Results...>>& done,
                     const wire::GroupName* group) const {
  if (done->claimed()) return true;  // cancelled while it waited
  if (state_ != NodeState::active) {
    const bool over = state_ == NodeState::departing || state_ == NodeState::stopped;
    done->fail(over ? errc::shutting_down : errc::not_active);
    return true;
  }
  if (group && !(is_valid_name(group->name) && is_valid_name(group->creator))) {
    done->fail(errc::bad_name);
    return true;
  }
  return false;
}

}  // namespace canopy::node
