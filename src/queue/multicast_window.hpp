// Which multicasts of one publisher's boot have come: the last ones by their
// numbers, and of those before that they are too old to tell. So nothing comes
// twice, however late, and what is remembered stays small. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace canopy::queue {

class MulticastWindow {
 public:
  static constexpr std::size_t size_max = 256;

  enum class Place : std::uint8_t {
    first,   // it had not come before
    again,   // it had
    unsure,  // it is older than what is remembered
  };
  // Remembers it, if it is the first time. Publishers count from 1.
  Place take(std::uint64_t sequence);

  // Numbers between the lowest and the highest that came which did not come.
  std::uint64_t holes() const noexcept { return empty() ? 0 : last() - lowest_ + 1 - taken_; }

  friend std::string encode(const MulticastWindow& window);
  friend std::optional<MulticastWindow> decode_multicast_window(std::string_view bytes);

 private:
  bool empty() const noexcept { return seen_.empty(); }
  std::uint64_t last() const noexcept { return seen_.back(); }

  std::uint64_t forgotten_ = 0;  // up to this one
  std::uint64_t lowest_ = 0;     // that ever came
  std::uint64_t taken_ = 0;
  std::vector<std::uint64_t> seen_;  // ascending, all above `forgotten_`
};

std::string encode(const MulticastWindow& window);
std::optional<MulticastWindow> decode_multicast_window(std::string_view bytes);

}  // namespace canopy::queue
