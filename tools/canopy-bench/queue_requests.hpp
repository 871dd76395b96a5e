// The requests of the load on one queue, rendered when first used.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "canopy-bench/load_plan.hpp"
#include "canopy-bench/sqs_request.hpp"

namespace canopy::tools {

class QueueRequests {
 public:
  // What is given must outlive it.
  QueueRequests(const LoadPlan& plan, const Signer* signer, std::string_view queue_url);

  // `count` messages with the numbers from `first` on. In a batch if `batch`,
  // which one message can be too. What is returned is good until the next call.
  std::string_view send(std::uint64_t first, unsigned sender, unsigned count, bool batch);
  std::string_view receive(unsigned count, std::chrono::seconds wait);
  // The handles are as they came, JSON's escapes included.
  std::string_view remove(const std::vector<std::string_view>& handles, bool batch);

 private:
  struct Send {
    SqsRequest request;
    // Offsets in the body.
    std::vector<std::size_t> numbers;
    std::vector<std::size_t> senders;
  };
  using Sends = std::array<std::optional<Send>, batch_size_max>;

  Send make_send(unsigned count, bool batch) const;

  const LoadPlan& plan_;
  const Signer* signer_;
  std::string start_;  // of every body
  Sends singles_;
  Sends batches_;
  std::array<std::optional<SqsRequest>, batch_size_max> receives_;
  std::chrono::seconds wait_{0};  // of the receives
  SqsRequest delete_;
  SqsRequest delete_batch_;
  std::string body_;
};

}  // namespace canopy::tools
