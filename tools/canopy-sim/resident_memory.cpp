#include "canopy-sim/resident_memory.hpp"

#include <fstream>
#include <string>

#include <malloc.h>

namespace canopy::tools {

namespace {

// A line of /proc/self/status, in KiB there; 0 where there is no such file.
std::uint64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  while (status >> name) {
    std::uint64_t kib = 0;
    if (name == field && status >> kib) return kib * 1024;
    std::getline(status, name);
  }
  return 0;
}

}  // namespace

std::uint64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

std::uint64_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace canopy::tools
