// The file that --trace names, if it was given.
#pragma once

#include <fstream>
#include <string>

namespace canopy::tools {

class TraceFile {
 public:
  // An empty path: no file. False from open() after saying why on standard error.
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  bool open();
  std::ostream* stream() { return path_.empty() ? nullptr : &file_; }
  // Whether all of it is written; says so if not.
  bool close();

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace canopy::tools
