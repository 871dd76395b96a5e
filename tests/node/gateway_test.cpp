// How an application embeds a gateway, and what is refused at its start.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
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

}  // namespace
}  // namespace canopy
