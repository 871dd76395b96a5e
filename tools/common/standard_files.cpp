#include "common/standard_files.hpp"

#include <cstdio>
#include <iostream>

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

int end_output(const char* program, int status) {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: cannot write to standard output\n", program);
  return 1;
}

}  // namespace canopy::tools
