// Marks of branches that are seldom taken, so that a fuzzer can tell which of them it
// has never reached:
//
//   if (!parent) {
//     rare<"a parent is lost while its child moves">();
//     ...
//
// All marks of a program are known before one is reached. A mark costs an atomic
// increment. Thread-safe. After the idea of FoundationDB's test macros.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace canopy {

// A string literal as a template argument.
template <std::size_t Size>
struct LiteralText {
  // NOLINTNEXTLINE(google-explicit-constructor): that is its purpose
  consteval LiteralText(const char (&literal)[Size]) { std::copy_n(literal, Size, text); }
  char text[Size]{};
};

class RareBranch {
 public:
  explicit RareBranch(const char* what) noexcept;
  RareBranch(const RareBranch&) = delete;
  RareBranch& operator=(const RareBranch&) = delete;

  void taken() noexcept { times_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t times() const noexcept { return times_.load(std::memory_order_relaxed); }
  std::string_view what() const noexcept { return what_; }

  // Those that the program has been linked with, by what they say.
  static std::vector<const RareBranch*> all();

 private:
  const char* what_;
  const RareBranch* next_;
  std::atomic<std::uint64_t> times_{0};
};

template <LiteralText What>
inline RareBranch rare_branch{What.text};

template <LiteralText What>
void rare() noexcept {
  rare_branch<What>.taken();
}

}  // namespace canopy
