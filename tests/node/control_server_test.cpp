#include "node/control_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <canopy/error.hpp>
#include <canopy/gateway.hpp>
#include <canopy/node.hpp>

#include "wire/control_codec.hpp"

namespace canopy::node {
namespace {

namespace asio = boost::asio;
namespace control = wire::control;
using namespace std::chrono_literals;

constexpr auto patience = 60s;
constexpr std::size_t mailbox_bytes_max = std::size_t{1} << 16;

// One client, driven by frames.
class TestClient {
 public:
  TestClient(asio::io_context& io, const std::string& path) {
    net::connect_local(io, path, patience,
                       [this](boost::system::error_code error, std::string_view,
                              std::shared_ptr<net::FrameChannel> channel) {
                         if (error) {
                           closed = true;
                           return;
                         }
                         channel_ = std::move(channel);
                         net::ChannelHandlers handlers;
                         handlers.frame = [this](const wire::Frame& frame) {
                           auto decoded = control::decode_answer(frame);
                           ASSERT_TRUE(decoded);
                           answers.push_back(std::move(*decoded));
                         };
                         handlers.closed = [this](std::string_view) { closed = true; };
                         channel_->start(std::move(handlers));
                       });
  }
  ~TestClient() { hang_up(); }

  void send(std::uint64_t id, control::Request request) {
    send(control::encode(control::RequestEnvelope{id, std::move(request)}).value());
  }
  void send(wire::EncodedFrame frame) { ASSERT_TRUE(channel_->send(std::move(frame))); }
  void hang_up() {
    if (channel_) channel_->close();
  }
  net::FrameChannel& channel() { return *channel_; }
  bool connected() const { return channel_ != nullptr; }

  template <class T>
  const T* find(std::uint64_t id) const {
    for (const auto& envelope : answers)
      if (envelope.id == id)
        if (const T* answer = std::get_if<T>(&envelope.answer)) return answer;
    return nullptr;
  }
  template <class T>
  std::vector<const T*> all(std::uint64_t id) const {
    std::vector<const T*> found;
    for (const auto& envelope : answers)
      if (envelope.id == id)
        if (const T* answer = std::get_if<T>(&envelope.answer)) found.push_back(answer);
    return found;
  }

  std::vector<control::AnswerEnvelope> answers;
  bool closed = false;

 private:
  std::shared_ptr<net::FrameChannel> channel_;
};

class ControlServerTest : public testing::Test {
 protected:
  ControlServerTest() : folder_(make_folder()), logger_before_(spdlog::default_logger()) {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
    logger->set_level(spdlog::level::warn);
    spdlog::set_default_logger(std::move(logger));
    NodeOptions options;
    options.name = "alpha";
    options.mailbox_bytes_max = mailbox_bytes_max;
    node.emplace(io.get_executor(), std::move(options));
    bool active = false;
    node->async_start([&](boost::system::error_code error) {
      EXPECT_FALSE(error) << error.message();
      active = true;
    });
    run_until([&] { return active; });
  }

  ~ControlServerTest() override {
    server.reset();
    gateway.reset();
    node.reset();
    spdlog::set_default_logger(logger_before_);
    std::filesystem::remove_all(folder_);
  }

  void serve(ControlLimits limits = {}) {
    server.emplace(
        io, *node, folder_ + "/control.sock", [this] { ++shutdowns; }, limits);
  }

  // Nobody could come in by HTTP.
  void serve_queues() {
    serve();
    GatewayOptions options;
    options.listen = "127.0.0.1:0";
    options.queues = {{"jobs"}};
    gateway.emplace(*node, options);
    server->serve_queues(*gateway);
  }

  // All parts of an answer.
  std::string call(TestClient& client, std::uint64_t id, const std::string& action,
                   const std::string& members) {
    client.send(id, queue_call(action, members));
    run_until([&] { return is_answered(client, id); });
    std::string whole;
    for (const control::QueueAnswer* part : client.all<control::QueueAnswer>(id))
      whole += part->body.view();
    return whole;
  }

  static control::QueueCall queue_call(const std::string& action, const std::string& members) {
    return {action, "", "", Buffer::copy_of("{" + members + "}")};
  }

  static bool is_answered(const TestClient& client, std::uint64_t id) {
    return std::any_of(client.answers.begin(), client.answers.end(),
                       [&](const auto& answer) { return answer.id == id && !answer.more; });
  }

  static std::uint16_t failure_of(const TestClient& client, std::uint64_t id) {
    const auto* failure = client.find<control::Failure>(id);
    return failure ? failure->error : 0;
  }

  std::unique_ptr<TestClient> connect() {
    auto client = std::make_unique<TestClient>(io, server->path());
    run_until([&] { return client->connected() || client->closed; });
    return client;
  }

  void run_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
      io.restart();
      io.run_one_for(10ms);  // the condition may change without an event here
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
  }

  template <class T>
  const T* ask(TestClient& client, std::uint64_t id, control::Request request) {
    client.send(id, std::move(request));
    run_until([&] { return client.find<T>(id) || client.closed; });
    return client.find<T>(id);
  }

  std::uint64_t subscriptions() {
    std::optional<NodeStatus> status;
    node->async_status([&](boost::system::error_code, NodeStatus now) { status = std::move(now); });
    run_until([&] { return status.has_value(); });
    return status->subscriptions;
  }

  void publish(const std::string& payload) {
    bool done = false;
    node->async_publish({"prices", ""}, Payload(payload), {},
                        [&](boost::system::error_code error, const PublishResult&) {
                          EXPECT_FALSE(error) << error.message();
                          done = true;
                        });
    run_until([&] { return done; });
  }

  static std::string make_folder() {
    std::string name = "/tmp/canopy-control-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }

  std::string folder_;
  std::shared_ptr<spdlog::logger> logger_before_;
  asio::io_context io;
  std::optional<Node> node;
  std::optional<Gateway> gateway;
  std::optional<ControlServer> server;
  int shutdowns = 0;
  std::ostringstream log;  // warnings
};

TEST_F(ControlServerTest, answers_every_question_about_the_node) {
  serve();
  auto client = connect();
  const auto* version = ask<control::Version>(*client, 1, control::GetVersion{});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->version, CANOPY_VERSION);
  const auto* status = ask<control::Status>(*client, 2, control::GetStatus{});
  ASSERT_TRUE(status);
  EXPECT_EQ(status->self.name, "alpha");
  EXPECT_EQ(status->self.id, Id::hash_of("alpha"));
  EXPECT_EQ(status->state, "active");
  const auto* ring = ask<control::Ring>(*client, 3, control::GetRing{});
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->peers.size(), 1U);
  EXPECT_TRUE(ring->complete);
  const auto* route = ask<control::Route>(*client, 4, control::GetRoute{Id::hash_of("x")});
  ASSERT_TRUE(route);
  EXPECT_TRUE(route->hops.empty());
  ASSERT_TRUE(ask<control::Done>(*client, 5, control::Create{{"prices", ""}}));
  ASSERT_TRUE(ask<control::Tree>(*client, 6, control::GetTree{{"prices", ""}}));
  ASSERT_TRUE(ask<control::Groups>(*client, 7, control::GetGroups{}));
}

TEST_F(ControlServerTest, a_member_gets_what_is_published) {
  serve();
  auto member = connect();
  auto publisher = connect();
  const auto* joined = ask<control::Joined>(*member, 1, control::Join{{"prices", ""}});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->group, (wire::GroupName{"prices", "canopy"}));
  EXPECT_EQ(joined->group_id, Id::hash_of("pricescanopy"));
  const wire::Content content{{{"k", "v"}}, Buffer::copy_of("ACME 12.50")};
  const auto* published = ask<control::Published>(
      *publisher, 9, control::Publish{{"prices", ""}, wire::AckMode::root, content});
  ASSERT_TRUE(published);
  run_until([&] { return member->find<control::Message>(1); });
  const auto* message = member->find<control::Message>(1);
  EXPECT_EQ(message->content, content);
  EXPECT_EQ(message->id, published->id);
}

TEST_F(ControlServerTest, what_the_node_refuses_is_told) {
  serve();
  auto client = connect();
  const auto* failure = ask<control::Failure>(*client, 1, control::Join{{"", ""}});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error, static_cast<std::uint16_t>(errc::bad_name));
  EXPECT_FALSE(failure->text.empty());
  ASSERT_TRUE(ask<control::Failure>(*client, 2, control::Request{}));  // of a later version
  EXPECT_FALSE(client->closed);
}

TEST_F(ControlServerTest, a_reply_that_has_no_room_can_be_tried_again) {
  serve();
  auto member = connect();
  auto asker = connect();
  control::Join join{{"prices", ""}};
  join.requests = 1;
  ASSERT_TRUE(ask<control::Joined>(*member, 1, join));
  control::Ask question;
  question.group = {"prices", ""};
  asker->send(1, question);
  run_until([&] { return member->find<control::Message>(1); });
  control::Reply reply;
  reply.join = 1;
  reply.request = member->find<control::Message>(1)->id;
  reply.content.payload = Buffer::copy_of(std::string(mailbox_bytes_max + 1, 'x'));
  ASSERT_TRUE(ask<control::Failure>(*member, 2, reply));
  EXPECT_EQ(failure_of(*member, 2), static_cast<std::uint16_t>(errc::queue_full));
  reply.content.payload = Buffer::copy_of("answer");
  EXPECT_TRUE(ask<control::Done>(*member, 3, reply));
  run_until([&] { return is_answered(*asker, 1); });
  EXPECT_EQ(failure_of(*asker, 1), 0);
}

TEST_F(ControlServerTest, hanging_up_leaves_the_groups) {
  serve();
  auto client = connect();
  ASSERT_TRUE(ask<control::Joined>(*client, 1, control::Join{{"prices", ""}}));
  client->send(2, control::Join{{"others", ""}});  // under way when the client goes
  EXPECT_EQ(subscriptions(), 1U);
  client->hang_up();
  run_until([&] { return server->clients() == 0; });
  run_until([&] { return subscriptions() == 0; });
  EXPECT_EQ(log.str(), "");
}

TEST_F(ControlServerTest, a_cancelled_join_leaves_and_says_so) {
  serve();
  auto client = connect();
  ASSERT_TRUE(ask<control::Joined>(*client, 1, control::Join{{"prices", ""}}));
  ASSERT_TRUE(ask<control::Done>(*client, 1, control::Cancel{}));
  run_until([&] { return subscriptions() == 0; });
  client->send(77, control::Cancel{});  // of nothing: harmless
  ASSERT_TRUE(ask<control::Joined>(*client, 1, control::Join{{"prices", ""}}));
}

TEST_F(ControlServerTest, requests_beyond_the_limit_wait_in_the_socket) {
  ControlLimits limits;
  limits.requests_max = 4;
  serve(limits);
  auto client = connect();
  constexpr std::uint64_t count = 1000;
  for (std::uint64_t id = 1; id <= count; ++id) client->send(id, control::GetStatus{});
  run_until([&] { return client->answers.size() == count; });
  EXPECT_EQ(server->counters().requests, count);
}

TEST_F(ControlServerTest, groups_beyond_the_limit_are_refused) {
  ControlLimits limits;
  limits.joins_max = 1;
  serve(limits);
  auto client = connect();
  ASSERT_TRUE(ask<control::Joined>(*client, 1, control::Join{{"a", ""}}));
  const auto* failure = ask<control::Failure>(*client, 2, control::Join{{"b", ""}});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error, static_cast<std::uint16_t>(errc::limit));
  client->send(1, control::Cancel{});
  ASSERT_TRUE(ask<control::Joined>(*client, 3, control::Join{{"b", ""}}));
}

TEST_F(ControlServerTest, clients_beyond_the_limit_are_turned_away) {
  ControlLimits limits;
  limits.clients_max = 2;
  serve(limits);
  auto a = connect();
  auto b = connect();
  auto c = connect();
  run_until([&] { return c->closed; });
  EXPECT_EQ(server->counters().refused, 1U);
  const auto* failure = c->find<control::Failure>(0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error, static_cast<std::uint16_t>(errc::limit));
  EXPECT_NE(log.str().find("has 2 clients"), std::string::npos) << log.str();
  EXPECT_TRUE(ask<control::Status>(*b, 1, control::GetStatus{}));
}

// Every message is either delivered or counted as lost, and what waits between
// tree and client stays within the limits.
TEST_F(ControlServerTest, a_client_that_does_not_read_loses_messages_and_is_told_how_many) {
  ControlLimits limits;
  limits.subscription_bytes_max = 1U << 20;
  limits.queue_bytes_max = 256U << 10;
  serve(limits);
  auto slow = connect();
  auto other = connect();
  ASSERT_TRUE(ask<control::Joined>(*slow, 1, control::Join{{"prices", ""}}));
  slow->channel().pause_reading();
  constexpr std::uint64_t count = 400;
  const std::string payload(32 << 10, 'x');
  for (std::uint64_t i = 0; i < count; ++i) publish(payload);
  EXPECT_TRUE(ask<control::Status>(*other, 1, control::GetStatus{}));
  slow->channel().resume_reading();
  const auto delivered = [&] { return slow->all<control::Message>(1).size(); };
  const auto lost = [&] {
    std::uint64_t sum = 0;
    for (const control::Lost* event : slow->all<control::Lost>(1)) sum += event->count;
    return sum;
  };
  run_until([&] { return delivered() + lost() == count; });
  EXPECT_GT(lost(), 0U);
  EXPECT_GT(delivered(), 0U);
}

TEST_F(ControlServerTest, garbage_closes_the_connection_with_a_warning) {
  serve();
  auto client = connect();
  client->send(wire::make_frame(control::request_kind + 7, 0));
  run_until([&] { return client->closed; });
  EXPECT_NE(log.str().find("control client 1 closed: "), std::string::npos) << log.str();

  auto twice = connect();
  twice->send(5, control::Join{{"a", ""}});
  twice->send(5, control::Join{{"b", ""}});
  run_until([&] { return twice->closed; });
  EXPECT_EQ(server->counters().malformed, 2U);
  run_until([&] { return subscriptions() == 0; });
}

TEST_F(ControlServerTest, a_shutdown_request_is_passed_on) {
  serve();
  auto client = connect();
  ASSERT_TRUE(ask<control::Done>(*client, 1, control::Shutdown{}));
  run_until([&] { return shutdowns == 1; });
  EXPECT_FALSE(client->closed);
  server.reset();
  run_until([&] { return client->closed; });
}

TEST_F(ControlServerTest, answers_that_wait_are_written_before_the_end) {
  serve();
  auto client = connect();
  ASSERT_TRUE(ask<control::Joined>(*client, 1, control::Join{{"prices", ""}}));
  bool stopped = false;
  node->async_stop([&](boost::system::error_code) { stopped = true; });
  run_until([&] { return stopped; });
  run_until([&] { return client->find<control::Failure>(1) != nullptr; });
  EXPECT_EQ(client->find<control::Failure>(1)->error,
            static_cast<std::uint16_t>(errc::shutting_down));
}

constexpr const char* jobs = R"("QueueUrl":"/queue/jobs")";

TEST_F(ControlServerTest, queues_can_be_called_without_a_signature) {
  serve_queues();
  auto client = connect();
  call(*client, 1, "SendMessage", std::string(jobs) + R"(,"MessageBody":"hello")");
  const std::string received = call(*client, 2, "ReceiveMessage", jobs);
  EXPECT_NE(received.find(R"("Body":"hello")"), std::string::npos) << received;
  EXPECT_EQ(client->find<control::QueueAnswer>(2)->status, 200U);
  EXPECT_EQ(call(*client, 3, "ListQueues", ""),
            R"({"QueueUrls":[")" + gateway->url() + R"(/000000000000/jobs"]})");
  const std::string refused = call(*client, 4, "PurgeQueue", R"("QueueUrl":"/queue/none")");
  EXPECT_NE(refused.find("QueueDoesNotExist"), std::string::npos) << refused;
  EXPECT_EQ(client->find<control::QueueAnswer>(4)->status, 400U);
  EXPECT_NE(call(*client, 5, "Dance", "").find("UnknownOperationException"), std::string::npos);
}

TEST_F(ControlServerTest, queues_of_other_accounts_and_regions_are_others) {
  serve_queues();
  auto client = connect();
  const auto list = [&](std::uint64_t id, std::string account, std::string region) {
    auto request = queue_call("ListQueues", "");
    request.account = std::move(account);
    request.region = std::move(region);
    const auto* answer = ask<control::QueueAnswer>(*client, id, request);
    return answer ? std::string(answer->body.view()) : "";
  };
  EXPECT_NE(list(1, "000000000000", "us-east-1").find("jobs"), std::string::npos);
  EXPECT_EQ(list(2, "111122223333", "").find("jobs"), std::string::npos);
  EXPECT_EQ(list(3, "", "eu-west-1").find("jobs"), std::string::npos);
  EXPECT_NE(list(4, "alice", "").find("twelve digits"), std::string::npos);
  EXPECT_NE(list(5, "", std::string(70, 'x')).find("short name"), std::string::npos);
}

TEST_F(ControlServerTest, long_answers_of_queues_come_in_parts) {
  serve_queues();
  auto client = connect();
  const std::string body(1'000'000, 'x');
  call(*client, 1, "SendMessage", std::string(jobs) + R"(,"MessageBody":")" + body + "\"");
  const std::string received = call(*client, 2, "ReceiveMessage", jobs);
  EXPECT_GT(received.size(), body.size());
  EXPECT_GT(client->all<control::QueueAnswer>(2).size(), 1U);
}

TEST_F(ControlServerTest, a_receive_that_is_given_up_swallows_no_message) {
  serve_queues();
  auto client = connect();
  auto other = connect();
  const std::string waits = std::string(jobs) + R"(,"WaitTimeSeconds":20)";
  client->send(1, queue_call("ReceiveMessage", waits));
  client->send(1, control::Cancel{});
  run_until([&] { return is_answered(*client, 1); });
  EXPECT_EQ(failure_of(*client, 1), static_cast<std::uint16_t>(errc::cancelled));
  client->send(2, queue_call("ReceiveMessage", waits));
  call(*client, 3, "GetAPIStats", "");  // the one before has come as well
  client->hang_up();
  run_until([&] { return server->clients() == 1; });
  call(*other, 1, "SendMessage", std::string(jobs) + R"(,"MessageBody":"hello")");
  EXPECT_NE(call(*other, 2, "ReceiveMessage", waits).find("hello"), std::string::npos);
}

TEST_F(ControlServerTest, calls_to_queues_end_before_the_gateway_does) {
  serve_queues();
  auto client = connect();
  client->send(1, queue_call("ReceiveMessage", std::string(jobs) + R"(,"WaitTimeSeconds":20)"));
  call(*client, 2, "GetAPIStats", "");
  server->close_queues();
  gateway.reset();
  run_until([&] { return is_answered(*client, 1); });
  EXPECT_EQ(failure_of(*client, 1), static_cast<std::uint16_t>(errc::shutting_down));
  call(*client, 3, "ListQueues", "");
  EXPECT_EQ(failure_of(*client, 3), static_cast<std::uint16_t>(errc::shutting_down));
}

TEST_F(ControlServerTest, without_a_gateway_it_says_how_to_get_one) {
  serve();
  auto client = connect();
  const auto* failure = ask<control::Failure>(*client, 1, queue_call("ListQueues", ""));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error, static_cast<std::uint16_t>(errc::unsupported));
  EXPECT_NE(failure->text.find("--gateway 127.0.0.1:9324"), std::string::npos);
}

TEST_F(ControlServerTest, only_the_owner_can_open_the_socket) {
  serve();
  struct stat file {};
  ASSERT_EQ(::stat(server->path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace canopy::node
