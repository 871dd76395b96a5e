// One client of the control socket: see control_server.hpp.
//
// What cannot be written at once waits in an outbox, and while anything waits
// there, nothing more is read from the client and no more is taken from its
// subscriptions: so the outbox holds at most the answers to requests that were
// under way, and one batch of events.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>

#include "gateway/http_request.hpp"
#include "net/frame_channel.hpp"
#include "node/control_queues.hpp"
#include "node/control_server.hpp"
#include "wire/control_codec.hpp"

namespace canopy::node {

class ControlSession : public std::enable_shared_from_this<ControlSession> {
 public:
  ControlSession(std::shared_ptr<ControlHost> host, std::shared_ptr<net::FrameChannel> channel,
                 std::uint64_t number);

  // `ended` is the last call, when the client has gone or was sent away.
  void start(std::function<void(std::string_view reason)> ended);

  // Ends all that is under way at the queues.
  void close_queues();

  // Gives up everything; lets the client read what is queued.
  void finish();

  std::uint64_t number() const noexcept { return number_; }
  bool is_open() const noexcept { return open_; }

 private:
  using Signal = boost::asio::cancellation_signal;

  // A request under way, or a membership. Its handlers share the signal that
  // cancels them, which they must not outlive.
  struct Operation {
    std::shared_ptr<Signal> cancel = std::make_shared<Signal>();
    Subscription subscription;                    // of a Join that has completed
    std::unique_ptr<QueueRequest> queue_request;  // of a QueueCall
    std::map<MessageId, Message> requests;        // that came by a Join, without their payloads
    bool join = false;
    bool receiving = false;
  };
  using RequestId = std::uint64_t;

  void on_frame(const wire::Frame& frame);
  void on_writable();
  void on_closed(std::string_view reason);
  void give_up();

  // One overload for each request.
  void handle(RequestId id, std::monostate);
  void handle(RequestId id, const wire::control::GetVersion&);
  void handle(RequestId id, const wire::control::GetStatus&);
  void handle(RequestId id, const wire::control::GetRing&);
  void handle(RequestId id, const wire::control::GetGroups&);
  void handle(RequestId id, const wire::control::GetRoute& request);
  void handle(RequestId id, const wire::control::GetTree& request);
  void handle(RequestId id, const wire::control::GetMembers& request);
  void handle(RequestId id, const wire::control::Create& request);
  void handle(RequestId id, const wire::control::Join& request);
  void handle(RequestId id, const wire::control::Cancel&);
  void handle(RequestId id, const wire::control::Publish& request);
  void handle(RequestId id, const wire::control::Anycast& request);
  void handle(RequestId id, const wire::control::Ask& request);
  void handle(RequestId id, const wire::control::Reply& request);
  void handle(RequestId id, const wire::control::Shutdown&);
  void handle(RequestId id, const wire::control::QueueCall& request);
  void handle(RequestId id, const wire::control::AddBridge& request);
  void handle(RequestId id, const wire::control::RemoveBridge& request);
  void handle(RequestId id, const wire::control::GetBridges&);
  void handle(RequestId id, const wire::control::GetAccess& request);
  void handle(RequestId id, const wire::control::SetAccess& request);
  void handle(RequestId id, const wire::control::DeleteGroup& request);

  // Whether there are queues; else it has said so.
  bool has_queues(RequestId id);

  void joined(RequestId id, Subscription subscription);
  void receive(RequestId id);
  void deliver(RequestId id, const Event& event);
  void keep_request(RequestId id, const Message& message);

  // A handler of this request's operation: it is called with the session in
  // front, and only while the request is under way.
  template <class Handler>
  auto bound(RequestId id, Handler handler);
  // One that ends the request, and calls answer(session, results...) if it
  // succeeded.
  template <class Answer>
  auto ends(RequestId id, Answer answer);

  Operation& add(RequestId id);
  void end(RequestId id);
  std::size_t requests() const noexcept { return operations_.size() - joins_; }

  void send(RequestId id, wire::control::Answer answer, bool more = false);
  void send_all(RequestId id, std::vector<wire::control::Answer> answers);
  void send(RequestId id, const gateway::Answer& answer);
  void fail(RequestId id, const boost::system::error_code& error);
  void update_reading();

  std::shared_ptr<ControlHost> host_;
  std::shared_ptr<net::FrameChannel> channel_;
  std::uint64_t number_;
  std::function<void(std::string_view)> ended_;
  std::map<RequestId, Operation> operations_;
  std::size_t joins_ = 0;
  std::shared_ptr<QueueRoom> room_;  // of all its groups
  std::deque<wire::EncodedFrame> outbox_;
  bool open_ = true;
};

}  // namespace canopy::node
