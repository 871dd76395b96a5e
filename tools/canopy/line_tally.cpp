#include "canopy/line_tally.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace canopy::tools {

namespace {

constexpr std::size_t ranges_max = 16;

// "line 3", "lines 3-7, 9".
std::string ranges(const std::set<std::uint64_t>& lines) {
  std::string text = lines.size() == 1 ? "line " : "lines ";
  std::size_t count = 0;
  for (auto first = lines.begin(); first != lines.end(); ++count) {
    if (count == ranges_max) return text + " and more";
    auto last = first;
    for (auto next = std::next(last); next != lines.end() && *next == *last + 1; ++next)
      last = next;
    text += fmt::format("{}{}", count == 0 ? "" : ", ", *first);
    if (last != first) text += fmt::format("-{}", *last);
    first = std::next(last);
  }
  return text;
}

}  // namespace

void LineTally::sent(std::uint64_t line) {
  sent_ = std::max(sent_, line);
  refused_.erase(line);
  open_.insert(line);
}

void LineTally::published(std::uint64_t line) {
  ++published_;
  open_.erase(line);
}

void LineTally::refused(std::uint64_t line) {
  open_.erase(line);
  refused_.insert(line);
}

std::string LineTally::text(bool all) const {
  std::string text = fmt::format("{} of {} messages{} were published", published_, sent_,
                                 all ? "" : " that were read");
  if (!refused_.empty())
    text += fmt::format("; {} {} not", ranges(refused_), refused_.size() == 1 ? "was" : "were");
  if (!open_.empty()) text += fmt::format("; {} may have been", ranges(open_));
  if (!all) text += fmt::format("; the input from line {} on was not read", sent_ + 1);
  return text;
}

}  // namespace canopy::tools
