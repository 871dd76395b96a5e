// Why a command cannot go on: what() says what is wrong and what to do. Ends
// the program with status 1, or 2 for a mistake in the command line.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace canopy::tools {

class Failure : public std::runtime_error {
 public:
  // `code`: the daemon's number of the error (canopy/error.hpp), or 0.
  explicit Failure(const std::string& text, unsigned code = 0)
      : std::runtime_error(text), code_(code) {}
  // `queue_code`: AWS's name of the error, as QueueDoesNotExist.
  Failure(const std::string& text, std::string queue_code)
      : std::runtime_error(text), queue_code_(std::move(queue_code)) {}
  // Another one's, in other words.
  Failure(const std::string& text, const Failure& cause)
      : std::runtime_error(text), code_(cause.code_), queue_code_(cause.queue_code_) {}

  unsigned code() const noexcept { return code_; }
  const std::string& queue_code() const noexcept { return queue_code_; }

 private:
  unsigned code_ = 0;
  std::string queue_code_;
};

class UsageError : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace canopy::tools
