// TCP links between this peer and others: at most one for each process that is
// a peer, made when there is something to send, agreed by a handshake, closed
// when unused.
//
// Sending is best effort: messages wait in bounded outboxes, control before
// bulk, and what is dropped is counted. Between two peers the order within a
// class of traffic holds for as long as a link lives, also where the dials of
// two peers that know each other have crossed and one link gives way. A peer that does not
// answer is dialled again, after growing pauses, while something waits for it.
//
// One thread, the one that runs the io_context; nothing here blocks it but
// listen() with a host name, at start-up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/peer.hpp"
#include "base/random.hpp"
#include "net/counters.hpp"
#include "net/dialer.hpp"
#include "net/link.hpp"
#include "net/link_events.hpp"
#include "net/link_rules.hpp"
#include "net/log_limit.hpp"
#include "net/options.hpp"
#include "net/peer_book.hpp"
#include "net/tcp_listener.hpp"
#include "wire/hello.hpp"
#include "wire/message.hpp"

namespace canopy::net {

class Links final : private LinkHost {
 public:
  // `self`: what this peer says in its handshakes; its descriptor's incarnation
  // must be larger than at its last start. `seed` spreads pauses.
  Links(boost::asio::io_context& io, PeerTable& peers, LinkEvents& events, wire::Hello self,
        const LinkOptions& options, std::uint64_t seed);
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // Accepts peers from now on; returns where, as port 0 lets the system choose.
  // Throws ListenError.
  Endpoint listen(const Endpoint& where);

  // Handshakes from now on say this. The id stays.
  void set_self(wire::Hello self);
  const wire::Hello& self() const noexcept { return self_; }

  // Hands a message over for sending. Never calls back.
  void send(PeerRef to, wire::Message message);

  // Links with whoever is at this address; its name is resolved anew. `done`
  // comes once, never inside this call, unless Links goes before.
  void dial_seed(const Endpoint& seed, SeedDone done);

  bool has_link(PeerRef peer);
  // What waits for the peer; beyond the limits of OutboxLimits the oldest goes.
  std::size_t queued_bytes(PeerRef peer);

  // Every PeerRef in use here, for PeerTable::sweep(). Duplicates are possible.
  void collect_refs(std::vector<PeerRef>& refs) const;

  // Stops listening and dialling, writes the control messages that wait for
  // linked peers and closes, within drain_time_max; then calls `done`. Nothing
  // is received any more, and what is sent is dropped.
  void shutdown(std::function<void()> done);

  LinkCounters counters() const;

 private:
  // LinkHost
  void link_hello(Link& link, wire::Hello hello) override;
  void link_rejected(Link& link, const wire::HelloReject& reject) override;
  void link_frame(Link& link, const wire::Frame& frame) override;
  void link_alive(Link& link) override;
  void link_gather(Link& link, WriteBatch& batch) override;
  void link_lost(Link& link, const StreamEnd& end) override;
  void link_gone(Link& link) override;

  // Dialling (links_dial.cpp)
  void dial_if_due(PeerEntry& entry);
  void dialled(PeerEntry& entry, DialResult result);
  std::vector<Endpoint> addresses_of(const PeerEntry& entry) const;
  void dial_failed(PeerEntry& entry, const std::string& text);
  void retry_later(PeerEntry& entry);
  void wait_to_retry(PeerEntry& entry, Duration pause);
  void retry(PeerEntry& entry);
  void greet(DialResult result, PeerEntry* wanted, SeedDone seed_done);
  void greeting_failed(Link& link, const boost::system::error_code& error, const std::string& text);
  void accepted(boost::asio::ip::tcp::socket socket);
  std::shared_ptr<Link> make_link(Link::Side side, boost::asio::ip::tcp::socket socket);

  // Handshakes (links_handshake.cpp)
  std::optional<wire::HelloReject> refusal_of(const Link& link, const wire::Hello& hello) const;
  void refuse_namesake(Link& link, const PeerDescriptor& other);
  void refuse(Link& link, const wire::HelloReject& reject);
  void refuse_quietly(Link& link, const wire::HelloReject& reject);
  void settle(Link& link, const wire::Hello& hello, PeerRef peer, PeerEntry& rival);
  void take(Link& link, const wire::Hello& hello, PeerRef peer);
  void take_beside(Link& link, PeerRef peer, PeerEntry& entry, Verdict verdict);
  PeerEntry* establish(Link& link, PeerEntry& entry, PeerRef peer);
  void report_seed(Link& link);
  void challenge(PeerEntry& entry, Link& link, const wire::Hello& hello, PeerRef peer);
  void challenge_won(PeerEntry& entry);
  void end_challenge(PeerEntry& entry, const wire::HelloReject& reject);
  void retire_others(const PeerEntry& entry, const PeerEntry* wanted);
  void retire(PeerEntry& entry);
  void end_handshake(Link& link);
  void drop(Link& link);

  // Established links (links.cpp)
  void lose_link(PeerEntry& entry, Disconnect reason);
  std::shared_ptr<Link> another_link(const PeerEntry& entry, const Link& lost) const;
  void erase_if_unused(PeerEntry& entry);
  bool make_room_for_link();
  void close_idle(PeerEntry& entry);
  void sweep_later();
  void sweep();
  void begin_shutdown();
  void end_shutdown();

  // Runs only while this object lives.
  template <class Call>
  auto guarded(Call call) const {
    return [alive = std::weak_ptr<const int>(alive_), call = std::move(call)](auto&&... args) {
      if (alive.lock()) call(std::forward<decltype(args)>(args)...);
    };
  }

  boost::asio::io_context& io_;
  PeerTable& peers_;
  LinkEvents& events_;
  wire::Hello self_;
  const LinkOptions options_;
  Random random_;
  LinkCounters counters_;
  std::shared_ptr<StreamPool> pool_ = std::make_shared<StreamPool>();
  PeerBook book_;
  Dialer dialer_;
  std::unique_ptr<TcpListener> listener_;
  std::map<std::uint64_t, std::shared_ptr<Link>> links_;  // every open one, by number
  std::uint64_t next_number_ = 1;
  std::size_t seeds_dialling_ = 0;
  std::map<std::string, std::size_t> handshakes_by_host_;  // accepted ones
  boost::asio::steady_timer sweep_timer_;
  bool sweep_armed_ = false;
  LogLimit log_;
  bool shutting_down_ = false;
  boost::asio::steady_timer shutdown_timer_;
  std::function<void()> shutdown_done_;
  std::shared_ptr<const int> alive_ = std::make_shared<const int>(0);
};

}  // namespace canopy::net
