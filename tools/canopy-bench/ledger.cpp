#include "canopy-bench/ledger.hpp"

#include <charconv>
#include <new>
#include <stdexcept>

namespace canopy::tools {

namespace {

constexpr std::uint64_t word_bits = 64;
constexpr std::uint64_t no_number = ~std::uint64_t{0};

std::uint64_t parse_digits(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end ? value : no_number;
}

}  // namespace

void put_digits(char* to, std::size_t digits, std::uint64_t value) noexcept {
  for (; digits > 0; value /= 10) to[--digits] = static_cast<char>('0' + value % 10);
}

Ledger::Ledger(std::size_t body_size, std::size_t senders)
    : body_size_(body_size),
      seen_(static_cast<Word*>(std::calloc(numbers_max / word_bits, sizeof(Word)))),
      last_(senders) {
  if (!seen_) throw std::bad_alloc();
}

unsigned Ledger::grant(unsigned wanted) noexcept {
  const std::int64_t left = allowed_.fetch_sub(wanted, std::memory_order_relaxed);
  if (left <= 0) return 0;
  return left < wanted ? static_cast<unsigned>(left) : wanted;
}

std::uint64_t Ledger::number(unsigned count) {
  const std::uint64_t first = next_.fetch_add(count, std::memory_order_relaxed);
  if (first + count > numbers_max) throw std::runtime_error("more messages than it can tell apart");
  return first;
}

Arrival Ledger::arrived(std::string_view body) noexcept {
  if (body.size() != body_size_) return Arrival::foreign;
  const std::uint64_t number = parse_digits(body.substr(0, number_digits));
  const std::uint64_t sender = parse_digits(body.substr(number_digits, sender_digits));
  if (number >= next_.load(std::memory_order_relaxed) || sender >= last_.size() ||
      body.find_first_not_of(body_filler, body_size_min) != body.npos)
    return Arrival::foreign;
  const std::uint64_t bit = std::uint64_t{1} << number % word_bits;
  if (seen_[number / word_bits].fetch_or(bit, std::memory_order_relaxed) & bit)
    return Arrival::duplicate;
  if (last_[sender].load(std::memory_order_relaxed) > number) return Arrival::disorder;
  last_[sender].store(number, std::memory_order_relaxed);
  return Arrival::fresh;
}

}  // namespace canopy::tools
