#include "queue/arn.hpp"

#include <array>
#include <utility>

namespace canopy::queue {

namespace {

// The cloud that a region belongs to.
std::string_view partition_of(std::string_view region) {
  constexpr std::pair<std::string_view, std::string_view> others[] = {{"cn-", "aws-cn"},
                                                                      {"us-gov-", "aws-us-gov"},
                                                                      {"us-iso-", "aws-iso"},
                                                                      {"us-isob-", "aws-iso-b"}};
  for (const auto& [start, partition] : others)
    if (region.starts_with(start)) return partition;
  return "aws";
}

}  // namespace

std::string arn_of(const QueueName& queue) {
  std::string arn = "arn:";
  arn += partition_of(queue.region);
  return arn + ":sqs:" + queue.region + ":" + queue.account + ":" + queue.name;
}

std::optional<QueueName> parse_arn(std::string_view arn) {
  std::array<std::string_view, 6> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto colon = arn.find(':');
    const bool last = i + 1 == parts.size();
    if (last != (colon == std::string_view::npos)) return std::nullopt;
    parts[i] = arn.substr(0, colon);
    if (!last) arn.remove_prefix(colon + 1);
  }
  // Partitions of other clouds ("aws-cn") name the same queues.
  if (parts[0] != "arn" || !parts[1].starts_with("aws") || parts[2] != "sqs") return std::nullopt;
  if (parts[3].empty() || parts[4].empty() || parts[5].empty()) return std::nullopt;
  return QueueName{std::string(parts[3]), std::string(parts[4]), std::string(parts[5])};
}

}  // namespace canopy::queue
