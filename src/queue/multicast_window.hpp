// Which multicasts of one publisher's boot have come: runs of their numbers, and
// of those before the first run that they are too old to tell. So nothing comes
// twice, however late, and what is remembered stays small: a publisher whose
// messages all come has one run. Plain values.
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
  static constexpr std::size_t runs_max = 1'024;

  enum class Place : std::uint8_t {
    first,   // it had not come before
    again,   // it had
    unsure,  // it is older than what is remembered
  };
  // Remembers it, if it is the first time. Publishers count from 1.
  Place take(std::uint64_t sequence);

  // Numbers between the lowest and the highest that came which did not come.
  std::uint64_t holes() const noexcept {
    return runs_.empty() ? 0 : runs_.back().last - lowest_ + 1 - taken_;
  }

  friend std::string encode(const MulticastWindow& window);
  friend std::optional<MulticastWindow> decode_multicast_window(std::string_view bytes);

 private:
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  std::uint64_t forgotten_ = 0;  // up to this one
  std::uint64_t lowest_ = 0;     // that ever came
  std::uint64_t taken_ = 0;
  std::vector<Run> runs_;  // ascending, none touches the next, all above `forgotten_`
};

std::string encode(const MulticastWindow& window);
std::optional<MulticastWindow> decode_multicast_window(std::string_view bytes);

}  // namespace canopy::queue
