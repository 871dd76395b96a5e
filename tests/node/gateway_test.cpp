// How an application embeds a gateway, and what is refused at its start.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <canopy/gateway.hpp>

namespace canopy {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

class GatewayTest : public testing::Test {
 protected:
  GatewayTest() {
    std::string pattern = testing::TempDir() + "canopy-gateway-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~GatewayTest() override { std::filesystem::remove_all(root_); }

  NodeOptions node_options(bool keeps) const {
    NodeOptions options;
    options.name = "a";
    if (keeps) options.data_directory = root_ + "/data";
    return options;
  }

  static GatewayOptions anonymous() {
    GatewayOptions options;
    options.listen = "127.0.0.1:0";
    options.allow_anonymous = true;
    return options;
  }

  // The whole answer.
  std::string ask(const Gateway& gateway, const std::string& action, const std::string& members) {
    const std::string url = gateway.url();
    Tcp::socket socket(io_);
    socket.connect({asio::ip::address_v4::loopback(),
                    static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)))});
    asio::write(socket, asio::buffer("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                     "X-Amz-Target: AmazonSQS." +
                                     action + "\r\nContent-Length: " +
                                     std::to_string(members.size()) + "\r\n\r\n" + members));
    std::string answer;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(answer), end);
    return answer;
  }

  std::string refusal(Node& node, GatewayOptions options) {
    try {
      Gateway gateway(node, std::move(options));
    } catch (const StartError& error) {
      return error.what();
    }
    return "";
  }

  std::string root_;
  asio::io_context io_;
};

constexpr const char* queue_url = R"("QueueUrl":"http://localhost/000000000000/jobs")";

TEST_F(GatewayTest, OnOnePage) {
  {
    Node node(io_.get_executor(), node_options(true));
    GatewayOptions options = anonymous();
    options.queues = {{"jobs", {{"VisibilityTimeout", "60"}}}};
    Gateway gateway(node, options);
    EXPECT_TRUE(gateway.durable());
    EXPECT_EQ(gateway.problem(), "");
    EXPECT_TRUE(gateway.url().starts_with("http://127.0.0.1:"));
    const auto sent =
        ask(gateway, "SendMessage", "{" + std::string(queue_url) + R"(,"MessageBody":"hello"})");
    EXPECT_NE(sent.find("200 OK"), std::string::npos) << sent;
    EXPECT_TRUE(gateway.drain(std::chrono::seconds(10)));
  }
  Node node(io_.get_executor(), node_options(true));
  Gateway gateway(node, anonymous());
  const auto received = ask(gateway, "ReceiveMessage", "{" + std::string(queue_url) + "}");
  EXPECT_NE(received.find(R"("Body":"hello")"), std::string::npos) << received;
}

TEST_F(GatewayTest, OutlivesItsNodeAndKeepsTheDirectory) {
  auto node = std::make_unique<Node>(io_.get_executor(), node_options(true));
  {
    Gateway gateway(*node, anonymous());
    node.reset();
    EXPECT_NE(ask(gateway, "ListQueues", "{}").find("200 OK"), std::string::npos);
    EXPECT_THROW(Node(io_.get_executor(), node_options(true)), StartError);
  }
  EXPECT_NO_THROW(Node(io_.get_executor(), node_options(true)));
}

TEST_F(GatewayTest, WithoutADirectoryKeepsNothing) {
  Node node(io_.get_executor(), node_options(false));
  GatewayOptions options = anonymous();
  options.queues = {{"jobs"}};
  {
    Gateway gateway(node, options);
    EXPECT_FALSE(gateway.durable());
    EXPECT_NE(ask(gateway, "ListQueues", "{}").find("jobs"), std::string::npos);
  }
  Gateway gateway(node, anonymous());
  EXPECT_EQ(ask(gateway, "ListQueues", "{}").find("jobs"), std::string::npos);
}

TEST_F(GatewayTest, SaysWhyItCannotStart) {
  Node node(io_.get_executor(), node_options(false));
  Gateway gateway(node, anonymous());
  GatewayOptions options = anonymous();
  options.listen = gateway.url().substr(sizeof("http://") - 1);
  EXPECT_NE(refusal(node, options).find("in use"), std::string::npos);
  EXPECT_NE(refusal(node, options).find("choose another --gateway"), std::string::npos);
  options.listen = "nowhere";
  EXPECT_NE(refusal(node, options).find("HOST:PORT"), std::string::npos);
  options = anonymous();
  options.certificate_file = "/certificate";
  EXPECT_NE(refusal(node, options).find("key"), std::string::npos);
  options = anonymous();
  options.default_account = "me";
  EXPECT_NE(refusal(node, options).find("twelve digits"), std::string::npos);
  options = anonymous();
  options.queues = {{"a b"}};
  EXPECT_NE(refusal(node, options).find("'a b' cannot be made"), std::string::npos);
}

TEST_F(GatewayTest, ChecksEveryOptionAsTheDaemonDoes) {
  using std::chrono::seconds;
  Node node(io_.get_executor(), node_options(false));
  const auto refused = [&](auto set) {
    GatewayOptions options = anonymous();
    set(options);
    return refusal(node, options);
  };
  EXPECT_EQ(refused([](GatewayOptions& o) { o.limits.batch_entries_max = 0; }),
            "sqs.batch-entries: '0' is out of range: give an integer from 1 to 1000");
  const auto starts = [&](const std::string& text, auto set) {
    return refused(set).starts_with(text);
  };
  EXPECT_TRUE(starts("account: ''", [](GatewayOptions& o) { o.default_account = ""; }));
  EXPECT_TRUE(starts("region: 'A b'", [](GatewayOptions& o) { o.default_region = "A b"; }));
  EXPECT_TRUE(starts("gateway-threads", [](GatewayOptions& o) { o.threads = 65; }));
  EXPECT_TRUE(starts("limit.connections", [](GatewayOptions& o) { o.connections_max = 0; }));
  EXPECT_TRUE(
      starts("sqs.wait-max", [](GatewayOptions& o) { o.limits.wait_max = seconds::max(); }));
  EXPECT_TRUE(starts("sqs.delay-max", [](GatewayOptions& o) { o.limits.delay_max = seconds(-1); }));
  EXPECT_TRUE(starts("limit.requests-arriving must be at least twice",
                     [](GatewayOptions& o) { o.request_bytes_max = 200U << 20; }));
  EXPECT_TRUE(starts("sqs.retention-min must not be longer",
                     [](GatewayOptions& o) { o.limits.retention_max = seconds(59); }));
  EXPECT_TRUE(starts("the queue 'q' cannot be made: Unknown Attribute Foo", [](GatewayOptions& o) {
    o.queues = {{"q", {{"Foo", "1"}}}};
  }));
}

TEST_F(GatewayTest, KeepsTheKeysItHasWhenNewOnesCannotBeRead) {
  const std::string file = root_ + "/keys";
  std::ofstream(file) << "[a]\naws_access_key_id = A\naws_secret_access_key = s\n";
  Node node(io_.get_executor(), node_options(false));
  GatewayOptions options = anonymous();
  options.credentials_file = file;
  Gateway gateway(node, options);
  std::ofstream(file) << "nonsense";
  EXPECT_THROW(gateway.reload_credentials(), StartError);
  std::ofstream(file) << "[b]\naws_access_key_id = B\naws_secret_access_key = s\n";
  EXPECT_NO_THROW(gateway.reload_credentials());
}

// With the node's executor running, which bridges need.
class GatewayBridgeTest : public GatewayTest {
 protected:
  ~GatewayBridgeTest() override {
    io_.stop();
    thread_.join();
  }

  std::unique_ptr<Node> started(bool keeps) {
    auto node = std::make_unique<Node>(io_.get_executor(), node_options(keeps));
    node->async_start(asio::use_future).get();
    return node;
  }

  static GatewayOptions with_jobs() {
    GatewayOptions options = anonymous();
    options.queues = {{"jobs"}};
    return options;
  }

  template <class Result>
  static boost::system::error_code error_of(std::future<Result> future) {
    try {
      future.get();
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
    return {};
  }

  bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      asio::steady_timer(io_, std::chrono::milliseconds(5)).wait();
    }
    return true;
  }

  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::thread thread_{[this] { io_.run(); }};
};

TEST_F(GatewayBridgeTest, AQueueSubscribesToAGroupAndDoesSoAfterARestart) {
  {
    const auto node = started(true);
    Gateway gateway(*node, with_jobs());
    const BridgeInfo added =
        gateway.async_add_bridge({"prices", ""}, "jobs", asio::use_future).get();
    EXPECT_EQ(added.group, (GroupName{"prices", "canopy"}));
    EXPECT_EQ(added.queue, "jobs");
    EXPECT_EQ(added.queue_url, gateway.url() + "/000000000000/jobs");
    EXPECT_TRUE(added.joined);
    EXPECT_EQ(added.problem, "");
    node->async_publish({"prices", ""}, Payload("hello"), {}, asio::use_future).get();
    EXPECT_TRUE(eventually([&] { return gateway.bridge_counts().sent == 1; }));
    EXPECT_TRUE(gateway.drain(std::chrono::seconds(10)));
    EXPECT_EQ(error_of(gateway.async_bridges(asio::use_future)), errc::shutting_down);
  }
  const auto node = started(true);
  Gateway gateway(*node, anonymous());
  EXPECT_TRUE(eventually([&] {
    const auto bridges = gateway.async_bridges(asio::use_future).get();
    return bridges.size() == 1 && bridges[0].joined && bridges[0].counts.sent == 1;
  }));
  const auto received = ask(gateway, "ReceiveMessage", "{" + std::string(queue_url) + "}");
  EXPECT_NE(received.find(R"("Body":"hello")"), std::string::npos) << received;
  gateway
      .async_remove_bridge({"prices", ""}, gateway.url() + "/000000000000/jobs", asio::use_future)
      .get();
  EXPECT_TRUE(gateway.async_bridges(asio::use_future).get().empty());
}

TEST_F(GatewayBridgeTest, SaysWhatIsWrong) {
  const auto node = started(false);
  Gateway gateway(*node, with_jobs());
  const auto add = [&](GroupName group, const char* queue) {
    return error_of(gateway.async_add_bridge(std::move(group), queue, asio::use_future));
  };
  EXPECT_EQ(add({"prices", ""}, "nowhere"), errc::no_such_queue);
  EXPECT_EQ(add({"prices", ""}, "http://localhost/a/b/c"), errc::no_such_queue);
  EXPECT_EQ(add({"", ""}, "jobs"), errc::bad_name);
  EXPECT_EQ(add({"a\nb", ""}, "jobs"), errc::bad_name);
  EXPECT_EQ(error_of(gateway.async_remove_bridge({"prices", ""}, "jobs", asio::use_future)),
            errc::no_such_bridge);
}

TEST_F(GatewayBridgeTest, WithoutARingABridgeIsKeptAndSaysWhy) {
  Node node(io_.get_executor(), node_options(false));
  Gateway gateway(node, with_jobs());
  const BridgeInfo bridge =
      gateway.async_add_bridge({"prices", ""}, "jobs", asio::use_future).get();
  EXPECT_FALSE(bridge.joined);
  EXPECT_EQ(bridge.problem, make_error_code(errc::not_active).message());
  node.async_start(asio::use_future).get();
  EXPECT_TRUE(
      eventually([&] { return gateway.async_bridges(asio::use_future).get().front().joined; }));
}

TEST_F(GatewayBridgeTest, BridgesEndWithTheirGatewayWhateverTheyDo) {
  const auto node = started(false);
  std::future<BridgeInfo> added;
  {
    Gateway gateway(*node, with_jobs());
    gateway.async_add_bridge({"prices", ""}, "jobs", asio::use_future).get();
    for (int i = 0; i < 100; ++i)
      node->async_publish({"prices", ""}, Payload("m"), {}, [](auto, auto) {});
    added = gateway.async_add_bridge({"others", ""}, "jobs", asio::use_future);
  }
  error_of(std::move(added));
  EXPECT_TRUE(
      eventually([&] { return node->async_status(asio::use_future).get().subscriptions == 0; }));
}

}  // namespace
}  // namespace canopy
