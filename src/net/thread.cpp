#include "net/thread.hpp"

#include <cstdint>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <unistd.h>

namespace canopy::net {

namespace {

constexpr std::uint64_t slice_ns = 100'000;  // the shortest that Linux grants

// Linux's sched_attr in its first version, which the C library does not have:
// and Linux's own header and the library's exclude each other.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;
  std::uint64_t deadline;
  std::uint64_t period;
};

}  // namespace

void begin_serving_thread(const char* name) noexcept {
  ::prctl(PR_SET_NAME, name);
  SchedulingAttributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.runtime = slice_ns;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace canopy::net
