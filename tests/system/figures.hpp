// What a sanitizer's build cannot be measured by.
#pragma once

namespace canopy::system_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

// Sanitized programs are several times slower.
inline constexpr int slowness = sanitized ? 4 : 1;

}  // namespace canopy::system_test
