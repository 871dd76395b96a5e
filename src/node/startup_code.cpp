#include "node/startup_code.hpp"

#include <cstdint>
#include <sys/mman.h>

#include <unistd.h>

// Of the linker: where the program's code is.
extern "C" {
extern const char __executable_start;
extern const char etext;
}

namespace canopy::node {

void drop_startup_code() {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(&__executable_start) + page - 1) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(&etext) & ~(page - 1);
  // Mapped from the file and never written to: nothing is lost.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace canopy::node
