// Files that are there, whole, when a call returns. Blocks on the disk.
#pragma once

#include <string>

#include <boost/system/error_code.hpp>

namespace canopy::node {

// Writes all of it to a new file, readable by its user only, and to the disk. For
// whoever renames it afterwards.
boost::system::error_code write_file(const std::string& path, const std::string& bytes);

// The same beside the file of that name in the directory, and renames it over that: a
// crash leaves either.
boost::system::error_code replace_file(const std::string& directory, const std::string& name,
                                       const std::string& bytes);

// What the last system call failed with.
boost::system::error_code last_error();

}  // namespace canopy::node
