// What the public interface tells, as answers of the control socket. Plain
// functions.
#pragma once

#include <vector>

#include <canopy/access.hpp>
#include <canopy/bridge.hpp>
#include <canopy/inspect.hpp>
#include <canopy/message.hpp>
#include <canopy/publish.hpp>
#include <canopy/request.hpp>

#include "wire/control_messages.hpp"

namespace canopy::node {

wire::control::Status to_answer(const NodeStatus& status);
wire::control::Published to_answer(const PublishResult& result);
wire::control::Route to_answer(const Route& route, const PeerInfo& self);
wire::control::Message to_answer(const Message& message);
wire::control::Access to_answer(const GroupDefinition& group);
wire::control::Presence to_answer(const Presence& presence);
wire::control::Taken to_answer(const AnycastResult& result);
wire::control::RequestEnded to_answer(const RequestEnded& ended);
wire::control::Failure to_answer(const boost::system::error_code& error);

// The parts of an answer that may be long: at least one, possibly empty.
std::vector<wire::control::Answer> to_answers(const Ring& ring);
std::vector<wire::control::Answer> to_answers(const Tree& tree);
std::vector<wire::control::Answer> to_answers(const std::vector<GroupInfo>& groups);
std::vector<wire::control::Answer> to_answers(const std::vector<BridgeInfo>& bridges);
// Each reply, and the end.
std::vector<wire::control::Answer> to_answers(const RequestResult& result,
                                              const boost::system::error_code& error);

}  // namespace canopy::node
