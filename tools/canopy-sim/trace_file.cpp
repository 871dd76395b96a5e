#include "canopy-sim/trace_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace canopy::tools {

bool TraceFile::open() {
  if (path_.empty()) return true;
  file_.open(path_, std::ios::trunc);
  if (file_) return true;
  std::fprintf(stderr, "canopy-sim: cannot write the trace to %s: %s\n", path_.c_str(),
               std::strerror(errno));
  return false;
}

bool TraceFile::close() {
  if (path_.empty()) return true;
  file_.close();
  if (file_) return true;
  std::fprintf(stderr, "canopy-sim: the trace in %s is incomplete: is the disk full?\n",
               path_.c_str());
  return false;
}

}  // namespace canopy::tools
