// Requests to Protobuf and back.
#include <chrono>
#include <cstdint>
#include <variant>

#include <canopy/error.hpp>

#include "control.pb.h"
#include "wire/control_codec_parts.hpp"

namespace canopy::wire::control {

namespace pb = canopy::control;

namespace {

using detail::bytes_of;
using detail::Decoder;
using detail::encoded;
using detail::framed;
using detail::malformed;
using detail::milliseconds;
using detail::parse;
using detail::put;

template <class Named>
void put(pb::BridgeName& out, const Named& in) {
  put(*out.mutable_group(), in.group);
  out.set_queue(in.queue);
}

// Fills the header of an envelope, and gives the body.
class RequestWriter {
 public:
  explicit RequestWriter(pb::Request& out) : out_(out) {}
  using Result = boost::system::result<Buffer>;

  Result operator()(std::monostate) { return Buffer(); }
  Result operator()(const GetVersion&) { return out_.mutable_version(), Buffer(); }
  Result operator()(const GetStatus&) { return out_.mutable_status(), Buffer(); }
  Result operator()(const GetRing&) { return out_.mutable_ring(), Buffer(); }
  Result operator()(const GetGroups&) { return out_.mutable_groups(), Buffer(); }
  Result operator()(const GetBridges&) { return out_.mutable_bridges(), Buffer(); }
  Result operator()(const AddBridge& in) { return put(*out_.mutable_add_bridge(), in), Buffer(); }
  Result operator()(const RemoveBridge& in) {
    return put(*out_.mutable_remove_bridge(), in), Buffer();
  }
  Result operator()(const Cancel&) { return out_.mutable_cancel(), Buffer(); }
  Result operator()(const Shutdown&) { return out_.mutable_shutdown(), Buffer(); }
  Result operator()(const GetRoute& in) { return out_.set_route(bytes_of(in.key)), Buffer(); }
  Result operator()(const GetTree& in) {
    pb::GetTree& out = *out_.mutable_tree();
    out.set_name(in.group.name);
    out.set_creator(in.group.creator);
    out.set_token(in.token);
    return Buffer();
  }
  Result operator()(const Create& in) {
    pb::Create& out = *out_.mutable_create();
    out.set_name(in.group.name);
    out.set_creator(in.group.creator);
    out.set_mode(static_cast<std::uint32_t>(in.mode));
    if (in.access) put(*out.mutable_access(), *in.access);
    out.set_token(in.token);
    return Buffer();
  }
  Result operator()(const Join& in) {
    pb::Join& out = *out_.mutable_join();
    out.set_name(in.group.name);
    out.set_creator(in.group.creator);
    out.set_token(in.token);
    out.set_presence(in.presence);
    out.set_last(in.last);
    out.set_no_anycast(!in.accept_anycast);
    out.set_requests(in.requests);
    return Buffer();
  }
  Result operator()(const GetAccess& in) { return put(*out_.mutable_access(), in.group), Buffer(); }
  Result operator()(const SetAccess& in) {
    pb::SetAccess& out = *out_.mutable_set_access();
    put(*out.mutable_group(), in.group);
    out.set_version(in.version);
    put(*out.mutable_access(), in.access);
    out.set_token(in.token);
    return Buffer();
  }
  Result operator()(const DeleteGroup& in) {
    put(*out_.mutable_delete_group()->mutable_group(), in.group);
    out_.mutable_delete_group()->set_token(in.token);
    return Buffer();
  }
  Result operator()(const GetMembers& in) {
    put(*out_.mutable_members()->mutable_group(), in.group);
    out_.mutable_members()->set_token(in.token);
    return Buffer();
  }
  Result operator()(const Anycast& in) {
    pb::Anycast& out = *out_.mutable_anycast();
    put(*out.mutable_group(), in.group);
    out.set_within_ms(milliseconds(in.within));
    out.set_wait_for_member(in.wait_for_member);
    out.set_token(in.token);
    return encoded(in.content);
  }
  Result operator()(const Ask& in) {
    pb::Ask& out = *out_.mutable_ask();
    put(*out.mutable_group(), in.group);
    out.set_to_all(in.to_all);
    out.set_replies(in.replies);
    out.set_within_ms(milliseconds(in.within));
    out.set_token(in.token);
    return encoded(in.content);
  }
  Result operator()(const Reply& in) {
    pb::Reply& out = *out_.mutable_reply();
    out.set_join(in.join);
    put(*out.mutable_request(), in.request);
    out.set_decline(in.decline);
    out.set_status(in.status);
    return encoded(in.content);
  }
  Result operator()(const Publish& in) {
    pb::Publish& publish = *out_.mutable_publish();
    put(*publish.mutable_group(), in.group);
    publish.set_ack(static_cast<std::uint32_t>(in.ack));
    publish.set_members_time_ms(milliseconds(in.members_time));
    publish.set_token(in.token);
    publish.set_chain(in.chain);
    return encoded(in.content);
  }
  Result operator()(const QueueCall& in) {
    pb::QueueCall& out = *out_.mutable_queue_call();
    out.set_action(in.action);
    out.set_account(in.account);
    out.set_region(in.region);
    if (in.body.size() > queue_call_bytes_max) return make_error_code(errc::too_large);
    return in.body;
  }

 private:
  pb::Request& out_;
};

}  // namespace

boost::system::result<EncodedFrame> encode(const RequestEnvelope& envelope) {
  pb::Request header;
  header.set_id(envelope.id);
  const auto body = std::visit(RequestWriter(header), envelope.request);
  return framed(request_kind, header, body);
}

Decoded<RequestEnvelope> decode_request(const Frame& frame) {
  pb::Request in;
  if (frame.kind != request_kind) return malformed("a frame that is no request");
  if (!parse(frame, in)) return malformed("a request that cannot be parsed");
  RequestEnvelope out{in.id(), {}};
  Decoder decoder;
  switch (in.what_case()) {
    case pb::Request::kVersion: out.request = GetVersion{}; break;
    case pb::Request::kStatus: out.request = GetStatus{}; break;
    case pb::Request::kRing: out.request = GetRing{}; break;
    case pb::Request::kGroups: out.request = GetGroups{}; break;
    case pb::Request::kRoute: out.request = GetRoute{decoder.id(in.route())}; break;
    case pb::Request::kTree:
      out.request = GetTree{{in.tree().name(), in.tree().creator()}, in.tree().token()};
      break;
    case pb::Request::kCreate:
      out.request = Create{{in.create().name(), in.create().creator()},
                           decoder.mode(in.create().mode()),
                           decoder.rights(in.create().access(), in.create().has_access()),
                           in.create().token()};
      break;
    case pb::Request::kJoin:
      out.request = Join{{in.join().name(), in.join().creator()},
                         in.join().token(),
                         in.join().presence(),
                         in.join().last(),
                         !in.join().no_anycast(),
                         in.join().requests()};
      break;
    case pb::Request::kAccess: out.request = GetAccess{Decoder::group_name(in.access())}; break;
    case pb::Request::kSetAccess:
      out.request = SetAccess{
          Decoder::group_name(in.set_access().group()), in.set_access().version(),
          decoder.rights(in.set_access().access(), true).value(), in.set_access().token()};
      break;
    case pb::Request::kDeleteGroup:
      out.request =
          DeleteGroup{Decoder::group_name(in.delete_group().group()), in.delete_group().token()};
      break;
    case pb::Request::kMembers:
      out.request = GetMembers{Decoder::group_name(in.members().group()), in.members().token()};
      break;
    case pb::Request::kAnycast:
      out.request = Anycast{Decoder::group_name(in.anycast().group()), decoder.content(frame),
                            std::chrono::milliseconds(in.anycast().within_ms()),
                            in.anycast().wait_for_member(), in.anycast().token()};
      break;
    case pb::Request::kAsk:
      out.request = Ask{Decoder::group_name(in.ask().group()),
                        decoder.content(frame),
                        in.ask().to_all(),
                        in.ask().replies(),
                        std::chrono::milliseconds(in.ask().within_ms()),
                        in.ask().token()};
      break;
    case pb::Request::kReply:
      out.request = Reply{in.reply().join(), decoder.message_id(in.reply().request()),
                          in.reply().decline(), in.reply().status(), decoder.content(frame)};
      break;
    case pb::Request::kCancel: out.request = Cancel{}; break;
    case pb::Request::kPublish:
      if (in.publish().ack() > static_cast<std::uint32_t>(AckMode::members))
        return malformed("an unknown ack mode");
      out.request = Publish{Decoder::group_name(in.publish().group()),
                            static_cast<AckMode>(in.publish().ack()),
                            decoder.content(frame),
                            std::chrono::milliseconds(in.publish().members_time_ms()),
                            in.publish().token(),
                            in.publish().chain()};
      break;
    case pb::Request::kShutdown: out.request = Shutdown{}; break;
    case pb::Request::kQueueCall:
      out.request = QueueCall{in.queue_call().action(), in.queue_call().account(),
                              in.queue_call().region(), frame.body};
      break;
    case pb::Request::kAddBridge:
      out.request =
          AddBridge{Decoder::group_name(in.add_bridge().group()), in.add_bridge().queue()};
      break;
    case pb::Request::kRemoveBridge:
      out.request =
          RemoveBridge{Decoder::group_name(in.remove_bridge().group()), in.remove_bridge().queue()};
      break;
    case pb::Request::kBridges: out.request = GetBridges{}; break;
    case pb::Request::WHAT_NOT_SET: break;
  }
  if (!decoder.ok) return malformed("a request with a malformed key or content");
  return out;
}

}  // namespace canopy::wire::control
