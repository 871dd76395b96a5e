// Between the values of the public interface and those of the layers below.
// Plain functions, safe from any thread.
#pragma once

#include <canopy/inspect.hpp>
#include <canopy/key.hpp>
#include <canopy/message.hpp>
#include <canopy/payload.hpp>

#include "base/buffer.hpp"
#include "base/id.hpp"
#include "base/peer.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::node {

Key to_key(const Id& id) noexcept;
Id to_id(const Key& key) noexcept;

// Share the bytes, copy none.
Payload to_payload(const Buffer& buffer);

PeerInfo to_peer_info(const PeerDescriptor& descriptor);
MessageId to_message_id(const wire::MessageId& id) noexcept;

GroupName to_group_name(const wire::GroupName& name);
// Fills the creator in where there is none.
wire::GroupName to_wire(const GroupName& name, std::string_view default_creator);

}  // namespace canopy::node
