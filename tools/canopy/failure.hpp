// Why a command cannot go on: what() says what is wrong and what to do. Ends
// the program with status 1, or 2 for a mistake in the command line.
#pragma once

#include <stdexcept>

namespace canopy::tools {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class UsageError : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace canopy::tools
