#include "pastry/body_peers.hpp"

namespace canopy::pastry {

namespace {

class Collector {
 public:
  explicit Collector(std::vector<PeerRef>& in_use) : in_use_(in_use) {}

  void operator()(const wire::JoinRequest& request) {
    add(request.joiner);
    for (const auto& row : request.rows) add(row.peers);
  }
  void operator()(const wire::RouteTrace& trace) {
    add(trace.origin);
    add(trace.hops);
  }
  void operator()(const wire::GroupJoin& join) { add(join.child); }
  void operator()(const wire::GroupCreate& create) { add(create.origin); }
  void operator()(const wire::Publish& publish) { add(publish.origin); }
  void operator()(const wire::Anycast& anycast) {
    add(anycast.origin);
    add(anycast.visited);
    add(anycast.to_visit);
    add(anycast.passed_over);
  }
  void operator()(const wire::TreeRequest& request) { add(request.origin); }
  void operator()(const wire::GroupChange& change) { add(change.origin); }
  void operator()(const wire::OpaqueBody&) {}

 private:
  void add(PeerRef peer) {
    if (peer) in_use_.push_back(peer);
  }
  void add(const wire::Peers& peers) {
    for (const PeerRef peer : peers) add(peer);
  }

  std::vector<PeerRef>& in_use_;
};

}  // namespace

void collect_body_peers(const wire::Routed& message, std::vector<PeerRef>& in_use) {
  in_use.insert(in_use.end(), message.leaving.begin(), message.leaving.end());
  if (message.body) std::visit(Collector(in_use), *message.body);
}

}  // namespace canopy::pastry
