#include "common/short_slices.hpp"

#include <cstdint>
#include <sys/syscall.h>

#include <unistd.h>

namespace canopy::tools {

namespace {

constexpr std::uint64_t slice_ns = 100'000;
constexpr std::uint32_t usual_policy = 0;  // SCHED_OTHER

// struct sched_attr of the kernel, which glibc 2.36 does not have.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // of the usual policy: the slice, in nanoseconds
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

}  // namespace

void ask_for_short_slices() noexcept {
  SchedulingAttributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != usual_policy)
    return;
  attributes.runtime = slice_ns;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace canopy::tools
