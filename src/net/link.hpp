// One connection between two peers, from its first byte to its last.
//
// A state machine over a FrameStream that knows the handshake and the ways in
// which a link ends, and asks its host for everything else:
//
//     handshaking -> deciding -> established -> leaving -> gone
//
// Dialled links say Hello first; accepted ones answer once their host has
// agreed, so that a stranger learns nothing. A leaving link closes its own
// direction and still reads to the end of the other, because the other side
// may have written before it knew. Each state has a time limit but the
// established one.
//
// Ownership: the host holds a shared_ptr until link_gone(). One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "net/frame_stream.hpp"
#include "net/link_use.hpp"
#include "net/options.hpp"
#include "wire/hello.hpp"

namespace canopy::net {

class Link;

class LinkHost {
 public:
  // The other side's Hello. The host answers, now or later, with establish()
  // or refuse().
  virtual void link_hello(Link& link, wire::Hello hello) = 0;

  // The other side refuses; it may do so even after its Hello.
  virtual void link_rejected(Link& link, const wire::HelloReject& reject) = 0;

  // A frame that carries a message. The host may call fail().
  virtual void link_frame(Link& link, const wire::Frame& frame) = 0;

  // The answer to ask_alive().
  virtual void link_alive(Link& link) = 0;

  // Room to write. Not asked before the link is established, nor while leaving.
  virtual void link_gather(Link& link, WriteBatch& batch) = 0;

  // A link that was not leaving has ended, or ends: nothing more can be sent.
  virtual void link_lost(Link& link, const StreamEnd& end) = 0;

  // Closed; the last call of all.
  virtual void link_gone(Link& link) = 0;

 protected:
  ~LinkHost() = default;
};

class Link final : public FrameStream {
 public:
  enum class Side { dialled, accepted };
  enum class State {
    handshaking,  // waits for the other side's Hello
    deciding,     // has it; the host makes up its mind
    established,  // messages go both ways
    leaving,      // sends no more, reads to the end
    gone,         // closed
  };

  // `options` and `host` outlive the link, unless it is abandoned.
  Link(std::uint64_t number, Side side, boost::asio::ip::tcp::socket socket, Endpoint remote,
       std::shared_ptr<StreamPool> pool, const LinkOptions& options, LinkHost& host);

  // Of a dialled link: says Hello. Both: wait for the other side's.
  void start(const wire::Hello* hello);

  // Agrees; an accepted link needs the Hello to answer with.
  void establish(const wire::Hello* hello);

  // Says why not, and leaves; what still comes is dropped.
  void refuse(const wire::HelloReject& reject);

  // Leaves in order: what was gathered gets written, what comes is delivered.
  void leave();

  // Ends at once for something that must not be, with link_lost().
  void fail(StreamEnd end);

  // Ends at once, without a word to the host.
  void abandon();

  // Asks whether the process at the other end still answers.
  void ask_alive();

  // There is something to gather.
  void wake() { flush(); }

  std::uint64_t number() const noexcept { return number_; }
  Side side() const noexcept { return side_; }
  State state() const noexcept { return state_; }
  const Endpoint& remote() const noexcept { return remote_; }

  // Since when writing has made no progress; `never` if nothing is stuck.
  MonoTime stalled_since() const noexcept { return write_blocked_since(); }

  LinkUse use;  // the host's

 private:
  void on_frame(const wire::Frame& frame) override;
  void gather(WriteBatch& batch) override;
  void on_flushed() override;
  void on_end(const StreamEnd& end) override;

  void on_handshake_frame(const wire::Frame& frame);
  void refuse_malformed(const std::string& reason);
  void on_established_frame(const wire::Frame& frame);
  void on_reject(const wire::Frame& frame);
  void send_own(wire::EncodedFrame frame);
  void begin_leaving();
  void limit_time(Duration time_max);
  void out_of_time();
  void finish();

  const std::uint64_t number_;
  const Side side_;
  State state_ = State::handshaking;
  const LinkOptions& options_;
  LinkHost* host_;  // null once gone or abandoned
  Endpoint remote_;
  std::vector<wire::EncodedFrame> own_frames_;  // of the handshake and its like
  bool deliver_ = true;                         // while leaving
  bool input_ended_ = false;
  std::unique_ptr<boost::asio::steady_timer> timer_;
};

}  // namespace canopy::net
