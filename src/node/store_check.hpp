// `canopyd --check-store DIR`: verifies what a data directory keeps of queues and of
// groups (their definitions and access lists), and says so to people or programs.
// Nothing is changed.
#pragma once

#include <string>

namespace canopy::node {

struct StoreCheck {
  // 0: all is well. 1: it is not. 2: nothing was checked, since there is nothing,
  // or somebody uses it.
  int status = 0;
  std::string text;  // lines, or one of JSON
};

StoreCheck check_store(const std::string& directory, bool json);

}  // namespace canopy::node
