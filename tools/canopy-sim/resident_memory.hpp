// How much memory this process has in use, by the kernel's account.
#pragma once

#include <cstdint>

namespace canopy::tools {

std::uint64_t resident_bytes();       // now
std::uint64_t peak_resident_bytes();  // the most so far

}  // namespace canopy::tools
