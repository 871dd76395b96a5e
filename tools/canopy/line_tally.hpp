// What has become of the lines of an input, each a message. Lines count from 1.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace canopy::tools {

class LineTally {
 public:
  void sent(std::uint64_t line);
  void published(std::uint64_t line);
  void refused(std::uint64_t line);  // for certain

  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t published() const noexcept { return published_; }

  // "2 of 9 messages were published; lines 3-7 were not; lines 8-9 may have been". If these
  // are not all, it says so.
  std::string text(bool all) const;

 private:
  std::uint64_t sent_ = 0;  // different ones
  std::uint64_t published_ = 0;
  std::set<std::uint64_t> open_;
  std::set<std::uint64_t> refused_;
};

}  // namespace canopy::tools
