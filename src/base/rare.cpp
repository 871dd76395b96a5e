#include "base/rare.hpp"

namespace canopy {

namespace {

const RareBranch*& list() noexcept {
  static const RareBranch* first = nullptr;
  return first;
}

}  // namespace

RareBranch::RareBranch(const char* what) noexcept : what_(what), next_(list()) { list() = this; }

std::vector<const RareBranch*> RareBranch::all() {
  std::vector<const RareBranch*> found;
  for (const RareBranch* branch = list(); branch; branch = branch->next_) found.push_back(branch);
  std::ranges::sort(found, {}, &RareBranch::what);
  return found;
}

}  // namespace canopy
