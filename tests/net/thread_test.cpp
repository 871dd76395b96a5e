#include "net/thread.hpp"

#include <array>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>

namespace canopy::net {
namespace {

TEST(Thread, NamesItself) {
  std::array<char, 16> name{};
  std::thread([&] {
    begin_serving_thread("canopy-test");
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  }).join();
  EXPECT_EQ(std::string(name.data()), "canopy-test");
}

}  // namespace
}  // namespace canopy::net
