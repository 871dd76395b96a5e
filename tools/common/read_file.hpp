// Files that a command line names.
#pragma once

#include <cstddef>
#include <string>

namespace canopy::tools {

// The whole of a regular file. Throws std::runtime_error that says what is
// wrong, without the path: also for a file of more bytes, and for directories,
// devices and pipes, which could keep a program for ever.
std::string read_file(const std::string& path, std::size_t bytes_max);

}  // namespace canopy::tools
