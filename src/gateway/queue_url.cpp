#include "gateway/queue_url.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace canopy::gateway {

namespace {

template <std::size_t max>
struct Parts {
  std::array<std::string_view, max> at;
  std::size_t size = 0;
};

// The first `max` of them: what comes behind is not looked at.
template <std::size_t max>
Parts<max> split(std::string_view text, char separator) {
  Parts<max> parts;
  while (parts.size < max) {
    const std::size_t end = text.find(separator);
    parts.at[parts.size++] = text.substr(0, end);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// "us-east-1", "us-gov-west-1": letters, digits and at least one hyphen.
bool is_region(std::string_view text) {
  return text.find('-') != std::string_view::npos && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

struct UrlParts {
  std::string_view host;
  std::string_view path;
};

UrlParts parts_of(std::string_view url) {
  UrlParts parts;
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
    const std::size_t slash = std::min(url.find('/'), url.size());
    parts.host = url.substr(0, slash);
    url.remove_prefix(slash);
  }
  parts.path = url.substr(0, std::min(url.find('?'), url.find('#')));
  return parts;
}

}  // namespace

std::string_view region_of_host(std::string_view host) {
  const auto labels = split<3>(host.substr(0, host.find(':')), '.');
  for (std::size_t i = 0; i + 1 < labels.size; ++i) {
    const std::string_view label = labels.at[i];
    const std::string_view next = labels.at[i + 1];
    if ((label == "sqs" || label == "sts") && is_region(next)) return next;
    if (next == "queue" && is_region(label)) return label;
  }
  // The oldest endpoint of all.
  return host.starts_with("queue.amazonaws.com") ? "us-east-1" : std::string_view();
}

bool is_account(std::string_view text) noexcept {
  return text.size() == 12 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<queue::QueueName> parse_queue_url(std::string_view url, const Place& place) {
  const UrlParts parts = parts_of(url);
  const auto named = [&](std::string_view region, std::string_view account,
                         std::string_view name) -> std::optional<queue::QueueName> {
    if (name.empty()) return std::nullopt;
    return queue::QueueName{std::string(region.empty() ? std::string_view(place.region) : region),
                            std::string(account), std::string(name)};
  };
  if (url.find('/') == std::string_view::npos) return named({}, place.account, url);
  if (!parts.path.starts_with('/')) return std::nullopt;
  const auto [steps, count] = split<5>(parts.path.substr(1), '/');
  if (count == 4 && steps[0] == "queue" && is_region(steps[1]) && is_account(steps[2]))
    return named(steps[1], steps[2], steps[3]);
  if (count != 2) return std::nullopt;
  if (is_account(steps[0])) return named(region_of_host(parts.host), steps[0], steps[1]);
  if (steps[0] == "queue") return named(region_of_host(parts.host), place.account, steps[1]);
  return std::nullopt;
}

std::string queue_url(const queue::QueueName& queue, const Place& place) {
  return fmt::format("{}/{}/{}", place.origin, queue.account, queue.name);
}

}  // namespace canopy::gateway
