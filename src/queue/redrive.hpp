// The two redrive attributes of a queue, parsed: where its dead letters go, and
// which queues may send it theirs. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "queue/actions.hpp"
#include "queue/limits.hpp"

namespace canopy::queue {

struct RedrivePolicy {
  std::string target_arn;
  QueueName target;
  std::uint32_t receives_max = 0;

  friend bool operator==(const RedrivePolicy&, const RedrivePolicy&) = default;
};

struct RedriveAllowPolicy {
  enum class Permission : std::uint8_t { allow_all, deny_all, by_queue };
  Permission permission = Permission::allow_all;
  std::vector<std::string> source_arns;

  bool allows(const std::string& source_arn) const;
  friend bool operator==(const RedriveAllowPolicy&, const RedriveAllowPolicy&) = default;
};

// The policy with its maxReceiveCount as a number, if it was given as a text that is
// one; unchanged otherwise.
std::string with_count_as_number(std::string policy);

// Errors are Amazon's, for the attribute as it was given.
boost::system::result<RedrivePolicy, Error> parse_redrive_policy(std::string_view json,
                                                                 const Limits& limits);
boost::system::result<RedriveAllowPolicy, Error> parse_redrive_allow_policy(std::string_view json,
                                                                            const Limits& limits);

}  // namespace canopy::queue
