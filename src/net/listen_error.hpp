// A socket that cannot be listened on: a matter of configuration, so it is
// thrown at start-up. The text says what is wrong and what to do.
#pragma once

#include <stdexcept>

namespace canopy::net {

class ListenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace canopy::net
