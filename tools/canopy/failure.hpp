// Why a command cannot go on: what() says what is wrong and what to do. Ends
// the program with status 1, or 2 for a mistake in the command line.
#pragma once

#include <stdexcept>
#include <string>

namespace canopy::tools {

class Failure : public std::runtime_error {
 public:
  // `code`: the daemon's number of the error (canopy/error.hpp), or 0.
  explicit Failure(const std::string& text, unsigned code = 0)
      : std::runtime_error(text), code_(code) {}
  unsigned code() const noexcept { return code_; }

 private:
  unsigned code_;
};

class UsageError : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace canopy::tools
