#include "node/file_limit.hpp"

#include <sys/resource.h>

#include "net/log.hpp"

namespace canopy::node {
namespace {

// For the links, handshakes, dials and clients that a daemon may have by its own limits.
constexpr rlim_t enough = 1024;

}  // namespace

void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  if (files.rlim_cur < files.rlim_max) {
    rlimit raised{files.rlim_max, files.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) files = raised;
  }
  if (files.rlim_cur < enough)
    log::warn(
        "only {} files may be open: with many peers and clients, connections will fail: raise the "
        "limit (ulimit -Hn, or LimitNOFILE) to {} or more",
        files.rlim_cur, enough);
}

}  // namespace canopy::node
