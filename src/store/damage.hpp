// What start-up throws when a data directory is not as it was left: a file is
// corrupt, missing, or somebody else's. The message names the file and says what
// is wrong with it, for people. Nothing has been changed by then.
#pragma once

#include <stdexcept>
#include <string>

namespace canopy::store {

class Damage : public std::runtime_error {
 public:
  Damage(const std::string& file, const std::string& problem)
      : std::runtime_error(file + ": " + problem), file_(file), problem_(problem) {}

  const std::string& file() const noexcept { return file_; }
  const std::string& problem() const noexcept { return problem_; }

 private:
  std::string file_;
  std::string problem_;
};

}  // namespace canopy::store
