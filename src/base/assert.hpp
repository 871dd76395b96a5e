// Assertions that stay on in release builds.
//
// They guard our own invariants, never outside input: a failed one prints the
// expression with its place and aborts, because a peer that acts on a broken
// invariant does more harm than a dead one.
#pragma once

namespace canopy {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;
}  // namespace canopy

#define CANOPY_ASSERT(expression)                       \
  (static_cast<bool>(expression) ? static_cast<void>(0) \
                                 : ::canopy::assertion_failed(#expression, __FILE__, __LINE__))
