#include "common/standard_files.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace canopy::tools {

void keep_standard_files() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) {
    if (::fcntl(file, F_GETFD) != -1) continue;
    // open() takes the lowest number that is free: this one. The wrong direction
    // makes reads and writes fail.
    if (::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) != file) return;
  }
}

}  // namespace canopy::tools
