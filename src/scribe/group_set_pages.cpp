#include "scribe/group_set_pages.hpp"

#include <algorithm>
#include <iterator>

namespace canopy::scribe {

namespace {

Id one_below(const Id& id) {
  static const Id one = Id{}.with_digit(Id::bits - 1, 1, 1);
  return id - one;
}

}  // namespace

std::vector<wire::GroupSetPage> make_pages(const std::vector<Id>& groups, bool as_parent,
                                           std::size_t start) {
  const std::size_t total =
      std::max<std::size_t>(1, (groups.size() + page_groups_max - 1) / page_groups_max);
  const std::size_t count = std::min(total, pages_max);
  std::vector<wire::GroupSetPage> pages;
  pages.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (start + i) % total;
    const std::size_t begin = index * page_groups_max;
    const std::size_t end = std::min(begin + page_groups_max, groups.size());
    wire::GroupSetPage& page = pages.emplace_back();
    page.as_parent = as_parent;
    page.groups.assign(groups.begin() + static_cast<std::ptrdiff_t>(begin),
                       groups.begin() + static_cast<std::ptrdiff_t>(end));
    // A page reaches to just before the next one: together they leave no gap.
    page.first = index == 0 ? Id{} : page.groups.front();
    page.last = one_below(index + 1 == total ? Id{} : groups[end]);
  }
  return pages;
}

bool well_formed(const wire::GroupSetPage& page) noexcept {
  if (page.last < page.first || !std::ranges::is_sorted(page.groups)) return false;
  return page.groups.empty() ||
         (page.first <= page.groups.front() && page.groups.back() <= page.last);
}

PageComparison compare(const wire::GroupSetPage& page, const std::vector<Id>& own) {
  const auto begin = std::ranges::lower_bound(own, page.first);
  const auto end = std::ranges::upper_bound(own, page.last);
  PageComparison comparison;
  std::set_difference(page.groups.begin(), page.groups.end(), begin, end,
                      std::back_inserter(comparison.only_theirs));
  std::set_difference(begin, end, page.groups.begin(), page.groups.end(),
                      std::back_inserter(comparison.only_ours));
  std::set_intersection(begin, end, page.groups.begin(), page.groups.end(),
                        std::back_inserter(comparison.both));
  return comparison;
}

}  // namespace canopy::scribe
