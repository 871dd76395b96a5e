// Those who watch a simulation: counters, checkers, the scenario runner. They
// are told within the event and must not change the simulation from there.
#pragma once

#include <cstddef>

#include <boost/system/error_code.hpp>

#include "base/id.hpp"
#include "scribe/events.hpp"
#include "scribe/order_item.hpp"
#include "sim/network.hpp"
#include "wire/message.hpp"

namespace canopy::sim {

class Observer {
 public:
  // A node says something to another, by a relay or not, whatever the network then does to it.
  virtual void said(NodeIndex /*from*/, NodeIndex /*to*/, const wire::Message& /*message*/) {}
  // A message leaves `from`: also one that it relays.
  virtual void sent(NodeIndex /*from*/, NodeIndex /*to*/, const wire::Message& /*message*/) {}
  // A node that was told to found or join became active.
  virtual void activated(NodeIndex /*node*/) {}
  // Upcalls of Scribe to the members on a node.
  virtual void multicast(NodeIndex /*node*/, const wire::Multicast& /*message*/) {}
  virtual void gap(NodeIndex /*node*/, const Id& /*group*/, const scribe::Missed& /*missed*/) {}
  virtual void presence(NodeIndex /*node*/, const Id& /*group*/, const scribe::Presence&) {}
  // Of a multicast that asks for replies: how many will come from this node.
  virtual std::size_t asked(NodeIndex /*node*/, const wire::Multicast& /*message*/) { return 0; }
  virtual void request_over(NodeIndex /*node*/, const wire::MessageId& /*id*/) {}
  virtual bool anycast(NodeIndex /*node*/, const wire::Anycast& /*message*/) { return true; }
  virtual void detached(NodeIndex /*node*/, const Id& /*group*/,
                        boost::system::error_code /*reason*/) {}

 protected:
  ~Observer() = default;
};

}  // namespace canopy::sim
