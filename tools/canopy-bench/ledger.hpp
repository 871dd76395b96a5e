// What was sent and what came back, so that a server which loses, repeats or
// invents messages does not look fast. Safe from any thread.
//
// Every body starts with a number of its own and the number of its sender.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace canopy::tools {

// Sizes of the two numbers, in digits.
inline constexpr std::size_t number_digits = 12;
inline constexpr std::size_t sender_digits = 5;
inline constexpr std::size_t body_size_min = number_digits + sender_digits;
// A sender that no connection is: what comes back from it is foreign.
inline constexpr unsigned nobody = 99'999;
inline constexpr char body_filler = 'x';

void put_digits(char* to, std::size_t digits, std::uint64_t value) noexcept;

enum class Arrival {
  fresh,
  duplicate,  // it came before
  disorder,   // fresh, but a later one of its sender came before
  foreign,    // not what was sent
};

class Ledger {
 public:
  Ledger(std::size_t body_size, std::size_t senders);

  // How many of `wanted` messages may still be sent.
  unsigned grant(unsigned wanted) noexcept;
  void allow(std::int64_t messages) noexcept { allowed_ = messages; }
  bool exhausted() const noexcept { return allowed_ <= 0; }

  // The first of `count` numbers in a row. Throws std::runtime_error when there
  // are no more.
  std::uint64_t number(unsigned count);

  Arrival arrived(std::string_view body) noexcept;

  // Acknowledged: in all.
  void sent(unsigned messages) noexcept { sent_ += messages; }
  void removed(unsigned messages) noexcept { removed_ += messages; }
  // Nobody is to receive what was sent so far.
  void set_aside() noexcept { removed_ = sent_.load(); }
  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t removed() const noexcept { return removed_; }
  bool empty() const noexcept { return removed_ >= sent_; }

 private:
  // A bit a number; memory that is not touched takes no room.
  static constexpr std::uint64_t numbers_max = std::uint64_t{1} << 32;
  using Word = std::atomic<std::uint64_t>;
  struct Free {
    void operator()(Word* words) const noexcept { std::free(words); }
  };

  std::size_t body_size_;
  std::atomic<std::int64_t> allowed_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<std::uint64_t> removed_ = 0;
  std::unique_ptr<Word[], Free> seen_;
  std::vector<std::atomic<std::uint64_t>> last_;  // of each sender
};

}  // namespace canopy::tools
