#include "scribe/publish_lines.hpp"

#include <algorithm>
#include <iterator>

namespace canopy::scribe {

bool PublishLines::waits(const Id& group, std::uint64_t sequence) const {
  const auto line = lines_.find(group);
  return line != lines_.end() && line->second.waiting.contains(sequence);
}

bool PublishLines::is_next(const Id& group, std::uint64_t sequence) const {
  const auto line = lines_.find(group);
  if (line == lines_.end() || line->second.waiting.empty()) return false;
  return *line->second.waiting.begin() == sequence;
}

PublishLines::Refusal PublishLines::refusal(const Id& group) const {
  const auto line = lines_.find(group);
  return line == lines_.end() ? Refusal{} : line->second.refusal;
}

void PublishLines::add(const Id& group, std::uint64_t sequence) {
  Line& line = lines_[group];
  line.sent.erase(sequence);
  line.waiting.insert(sequence);
}

void PublishLines::refuse(const Id& group, std::uint64_t sequence, const Refusal& refusal) {
  add(group, sequence);
  lines_[group].refusal = refusal;
}

void PublishLines::take_turn(const Id& group, std::uint64_t sequence) {
  const auto line = lines_.find(group);
  if (line == lines_.end() || line->second.waiting.erase(sequence) == 0) return;
  line->second.sent.insert(sequence);
}

bool PublishLines::leave(const Id& group, std::uint64_t sequence) {
  const auto line = lines_.find(group);
  if (line == lines_.end()) return false;
  const std::size_t left = line->second.waiting.erase(sequence) + line->second.sent.erase(sequence);
  if (line->second.waiting.empty() && line->second.sent.empty()) lines_.erase(line);
  return left != 0;
}

std::vector<std::uint64_t> PublishLines::next(const Id& group, std::size_t count) const {
  const auto line = lines_.find(group);
  if (line == lines_.end()) return {};
  const auto& waiting = line->second.waiting;
  const auto size = std::min(count, waiting.size());
  return {waiting.begin(), std::next(waiting.begin(), static_cast<std::ptrdiff_t>(size))};
}

}  // namespace canopy::scribe
