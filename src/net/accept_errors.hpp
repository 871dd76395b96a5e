// Why connections could not be accepted: counted, and said once in a while, so
// that a process out of descriptors is no riddle. One thread.
#pragma once

#include <cstdint>
#include <string>

#include <boost/system/error_code.hpp>

#include "base/time.hpp"

namespace canopy::net {

class AcceptErrors {
 public:
  void add(const boost::system::error_code& error, const std::string& where);

  std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr Duration silence = std::chrono::seconds(10);  // after each line

  std::uint64_t count_ = 0;
  MonoTime said_at_{};
};

}  // namespace canopy::net
