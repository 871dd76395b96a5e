#include "canopy-bench/echo_server.hpp"

#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace canopy::tools {

namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;

class EchoSession : public std::enable_shared_from_this<EchoSession> {
 public:
  explicit EchoSession(tcp::socket socket) : socket_(std::move(socket)) {
    socket_.set_option(tcp::no_delay(true));
  }

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                       if (!error) self->write();
                     });
  }

 private:
  void write() {
    answer_ = {http::status::ok, request_.version()};
    answer_.set(http::field::content_type, request_[http::field::content_type]);
    answer_.body() = std::move(request_.body());
    answer_.prepare_payload();
    http::async_write(socket_, answer_,
                      [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> answer_;
};

}  // namespace

class EchoServer::Impl {
 public:
  explicit Impl(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i)
      loops_.push_back(std::make_unique<boost::asio::io_context>(1));
    acceptor_ = std::make_unique<tcp::acceptor>(
        *loops_.front(), tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    accept();
    for (const auto& loop : loops_)
      threads_.emplace_back([&loop = *loop] {
        const auto work = boost::asio::make_work_guard(loop);
        loop.run();
      });
  }

  ~Impl() {
    for (const auto& loop : loops_) loop->stop();
    threads_.clear();
    acceptor_.reset();
  }

  std::uint16_t port() const { return acceptor_->local_endpoint().port(); }

 private:
  // Connections go to the loops in turn.
  void accept() {
    boost::asio::io_context& loop = *loops_[accepted_++ % loops_.size()];
    acceptor_->async_accept(loop,
                            [this, &loop](boost::system::error_code error, tcp::socket socket) {
                              if (error) return;
                              const auto session = std::make_shared<EchoSession>(std::move(socket));
                              boost::asio::dispatch(loop, [session] { session->read(); });
                              accept();
                            });
  }

  std::vector<std::unique_ptr<boost::asio::io_context>> loops_;
  std::unique_ptr<tcp::acceptor> acceptor_;
  std::size_t accepted_ = 0;
  std::vector<std::jthread> threads_;
};

EchoServer::EchoServer(unsigned threads) : impl_(std::make_unique<Impl>(threads)) {}

EchoServer::~EchoServer() = default;

std::uint16_t EchoServer::port() const { return impl_->port(); }

}  // namespace canopy::tools
