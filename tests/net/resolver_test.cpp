#include "net/resolver.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include "net/link_harness.hpp"

namespace canopy::net {
namespace {

using namespace testing;
namespace asio = boost::asio;

// A name server that is silent about "dead" until the test is over.
std::atomic<bool> over;
std::atomic<int> lookups;

Resolver::Addresses look_up(const Endpoint& name) {
  ++lookups;
  if (name.host == "dead") {
    over.wait(false);
    return boost::system::error_code(asio::error::host_not_found);
  }
  return std::vector<asio::ip::tcp::endpoint>{{asio::ip::address_v4::loopback(), name.port}};
}

class ResolverTest : public ::testing::Test {
 protected:
  ResolverTest() {
    over = false;
    lookups = 0;
  }
  ~ResolverTest() override { let_go(); }

  static void let_go() {
    over = true;
    over.notify_all();
  }

  Resolver::Number resolve(const std::string& host) {
    return resolver_->resolve({host, 7000},
                              [this](Resolver::Number number, const Resolver::Addresses& found) {
                                results_.emplace(number, found);
                              });
  }

  asio::io_context io_;
  std::unique_ptr<Resolver> resolver_ = std::make_unique<Resolver>(io_, look_up);
  std::map<Resolver::Number, Resolver::Addresses> results_;
};

TEST_F(ResolverTest, TellsAddressesAndErrors) {
  Resolver system(io_);
  const auto there = resolve("there");
  const auto dead = resolve("dead");
  EXPECT_TRUE(results_.empty());
  ASSERT_TRUE(run_until(io_, [&] { return results_.contains(there); }));
  EXPECT_EQ(results_.at(there)->at(0).port(), 7000);
  let_go();
  ASSERT_TRUE(run_until(io_, [&] { return results_.contains(dead); }));
  EXPECT_EQ(results_.at(dead).error(), asio::error::host_not_found);
  bool told = false;
  system.resolve({"no-such-host.invalid", 7000},
                 [&](auto, const Resolver::Addresses& found) { told = found.has_error(); });
  EXPECT_TRUE(run_until(io_, [&] { return told; }));
}

TEST_F(ResolverTest, ASilentNameServerHoldsNeitherOtherNamesNorTheEndUp) {
  resolve("dead");
  const auto there = resolve("there");
  ASSERT_TRUE(run_until(io_, [&] { return results_.contains(there); }));
  resolver_.reset();
  EXPECT_EQ(results_.size(), 1U);
}

TEST_F(ResolverTest, LookupsAreBoundedAndTheRestWaits) {
  for (std::size_t n = 0; n < Resolver::threads_max; ++n) resolve("dead");
  const auto there = resolve("there");
  ASSERT_TRUE(run_until(io_, [&] { return lookups == int{Resolver::threads_max}; }));
  EXPECT_TRUE(results_.empty());
  let_go();
  EXPECT_TRUE(run_until(io_, [&] { return results_.contains(there); }));
}

TEST_F(ResolverTest, ACancelledLookupSaysNothing) {
  const auto waiting = resolve("there");
  resolver_->cancel(waiting);
  const auto other = resolve("there");
  ASSERT_TRUE(run_until(io_, [&] { return results_.contains(other); }));
  EXPECT_FALSE(results_.contains(waiting));
  resolver_->cancel(other);  // it is over
}

}  // namespace
}  // namespace canopy::net
