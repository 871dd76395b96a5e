#include "node/control_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/listen_error.hpp"

namespace canopy::node {
namespace {

class ControlPath : public testing::Test {
 protected:
  ControlPath() {
    std::string name = "/tmp/canopy-path-XXXXXX";
    folder = ::mkdtemp(name.data());
    if (const char* set = std::getenv("XDG_RUNTIME_DIR")) before = set;
    ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  }
  ~ControlPath() override {
    if (before.empty())
      ::unsetenv("XDG_RUNTIME_DIR");
    else
      ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
    std::filesystem::remove_all(folder);
  }
  std::string folder;
  std::string before;
};

TEST_F(ControlPath, lies_in_the_users_runtime_directory) {
  EXPECT_EQ(default_control_path(), folder + "/canopy/control.sock");
  ::setenv("XDG_RUNTIME_DIR", "/nowhere/at/all", 1);
  EXPECT_EQ(default_control_path(), "/tmp/canopy-" + std::to_string(::getuid()) + "/control.sock");
}

TEST_F(ControlPath, its_directory_is_made_for_the_owner_only) {
  prepare_control_directory("/elsewhere/control.sock");
  EXPECT_FALSE(std::filesystem::exists(folder + "/canopy"));
  for (int again = 0; again < 2; ++again) prepare_control_directory(default_control_path());
  struct stat status {};
  ASSERT_EQ(::stat((folder + "/canopy").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(ControlPath, a_directory_open_to_others_is_refused) {
  ::mkdir((folder + "/canopy").c_str(), 0755);
  ::chmod((folder + "/canopy").c_str(), 0755);
  EXPECT_THROW(prepare_control_directory(default_control_path()), net::ListenError);
}

}  // namespace
}  // namespace canopy::node
