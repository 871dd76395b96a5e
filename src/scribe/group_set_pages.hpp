// The exchange of group sets between two neighbours whose hashes differ.
//
// One side cuts its set into pages, each of which speaks of a range of ids and
// can be compared on its own; the other side compares and repairs both ends.
// Pure functions; all id lists are sorted.
#pragma once

#include <cstddef>
#include <vector>

#include "base/id.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

inline constexpr std::size_t page_groups_max = 1024;
inline constexpr std::size_t pages_max = 16;  // for one exchange

// Pages over the whole id space, in id order. Where there would be more than
// pages_max, that many from page `start` on, around the end; another exchange
// with another start gets to the others.
std::vector<wire::GroupSetPage> make_pages(const std::vector<Id>& groups, bool as_parent,
                                           std::size_t start);

// Whether the page is what make_pages can have made.
bool well_formed(const wire::GroupSetPage& page) noexcept;

struct PageComparison {
  std::vector<Id> only_theirs;  // in the page, not in the own set
  std::vector<Id> only_ours;    // in the page's range, not in the page
  std::vector<Id> both;
};

PageComparison compare(const wire::GroupSetPage& page, const std::vector<Id>& own);

}  // namespace canopy::scribe
