// How much memory this process has in use.
#pragma once

#include <cstdint>

namespace canopy::tools {

// By the kernel's account, the most so far.
std::uint64_t peak_resident_bytes();
// By the allocator's: what has been allocated and not freed.
std::uint64_t heap_bytes();

}  // namespace canopy::tools
