#include "wire/hello.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "base/text.hpp"
#include "overlay.pb.h"
#include "wire/codec_state.hpp"
#include "wire/proto_frame.hpp"

namespace canopy::wire {

namespace {

constexpr std::size_t max_reject_text = 1024;

// At most so many bytes, of whole UTF-8 characters.
std::string front_of(const std::string& text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<std::uint8_t>(text[max]) & 0xc0) == 0x80) --max;
  return text.substr(0, max);
}

Malformed malformed(std::string_view what, std::string_view problem) {
  return {errc::protocol, fmt::format("{}: {}", what, problem)};
}

// Texts call both peers by name, so that they read the same on either side.
std::string name_of(const Hello& hello) {
  return hello.peer.name.empty() ? hello.peer.id.to_hex() : hello.peer.name;
}

// The id decides the place on the ring: nobody may choose it apart from the name.
std::optional<HelloReject> check_identity(const Hello& theirs) {
  if (!is_valid_name(theirs.peer.name))
    return HelloReject{
        RejectCode::malformed,
        fmt::format("{} has no valid name: give it one with --name", theirs.peer.id.to_hex())};
  if (theirs.peer.id == Id::hash_of(theirs.peer.name)) return std::nullopt;
  return HelloReject{RejectCode::malformed, fmt::format("the id of {} is {}, not its name's SHA-1",
                                                        theirs.peer.name, theirs.peer.id.to_hex())};
}

std::optional<HelloReject> check_cluster(const Hello& mine, const Hello& theirs) {
  if (theirs.cluster_name != mine.cluster_name) {
    return HelloReject{
        RejectCode::wrong_cluster,
        fmt::format("{} is of the cluster '{}', {} of the cluster '{}'", name_of(mine),
                    mine.cluster_name, name_of(theirs), theirs.cluster_name)};
  }
  if (mine.cluster.is_nil() && theirs.cluster.is_nil()) {
    return HelloReject{RejectCode::not_member,
                       fmt::format("neither {} nor {} belongs to a cluster yet: try again later",
                                   name_of(mine), name_of(theirs))};
  }
  if (mine.cluster.is_nil() || theirs.cluster.is_nil() || mine.cluster == theirs.cluster) {
    return std::nullopt;
  }
  return HelloReject{RejectCode::wrong_cluster,
                     fmt::format("two clusters have the name '{}': the UUID of {}'s is {}, of {}'s "
                                 "{}",
                                 mine.cluster_name, name_of(mine), mine.cluster.to_string(),
                                 name_of(theirs), theirs.cluster.to_string())};
}

std::optional<HelloReject> check_parameters(const Hello& mine, const Hello& theirs) {
  if (theirs.digit_bits != mine.digit_bits) {
    return HelloReject{
        RejectCode::parameters,
        fmt::format("{} has digits of {} bits, {} of {}: all peers of a cluster "
                    "need the same --digit-bits",
                    name_of(mine), mine.digit_bits, name_of(theirs), theirs.digit_bits)};
  }
  if (theirs.leaf_set_size != mine.leaf_set_size) {
    return HelloReject{
        RejectCode::parameters,
        fmt::format("{} has leaf sets of {}, {} of {}: all peers of a cluster need "
                    "the same --leaf-set",
                    name_of(mine), mine.leaf_set_size, name_of(theirs), theirs.leaf_set_size)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<HelloReject> check_compatible(const Hello& mine, const Hello& theirs) {
  if (auto reject = check_identity(theirs)) return reject;
  const bool same_id = theirs.peer.id == mine.peer.id;
  if (same_id && theirs.peer.incarnation == mine.peer.incarnation) {
    return HelloReject{RejectCode::self,
                       fmt::format("the address leads back to {} itself", name_of(mine))};
  }
  if (theirs.version_min > mine.version_max || mine.version_min > theirs.version_max) {
    return HelloReject{RejectCode::version,
                       fmt::format("{} speaks the protocol versions {} to {}, {} {} to {}: none in "
                                   "common",
                                   name_of(mine), mine.version_min, mine.version_max,
                                   name_of(theirs), theirs.version_min, theirs.version_max)};
  }
  if (auto reject = check_cluster(mine, theirs)) return reject;
  if (auto reject = check_parameters(mine, theirs)) return reject;
  if (!same_id) return std::nullopt;
  return HelloReject{RejectCode::duplicate_name,
                     fmt::format("two running peers have the name {} and so the same id: give one "
                                 "of them another --name",
                                 name_of(mine))};
}

EncodedFrame encode(const Hello& hello) {
  overlay::Hello to;
  if (!hello.cluster.is_nil()) {
    to.set_cluster(hello.cluster.bytes.data(), hello.cluster.bytes.size());
  }
  to.set_cluster_name(hello.cluster_name);
  detail::put_descriptor(to.mutable_peer(), hello.peer);
  to.set_version_min(hello.version_min);
  to.set_version_max(hello.version_max);
  to.set_features(hello.features);
  to.set_digit_bits(hello.digit_bits);
  to.set_leaf_set_size(hello.leaf_set_size);
  return frame_of(frame_kind::hello, to);
}

EncodedFrame encode(const HelloReject& reject) {
  overlay::HelloReject to;
  to.set_code(static_cast<std::uint32_t>(reject.code));
  to.set_text(front_of(reject.text, max_reject_text));
  return frame_of(frame_kind::hello_reject, to);
}

Decoded<Hello> decode_hello(const Frame& frame) {
  overlay::Hello from;
  if (frame.kind != frame_kind::hello) {
    return malformed("Hello", fmt::format("a frame of kind {} came instead", frame.kind));
  }
  if (!parse_header(frame, from)) return malformed("Hello", "its header is not valid Protobuf");

  PeerTable no_peers;
  detail::Reader reader(no_peers, nullptr, {});
  Hello to;
  if (from.cluster().size() == to.cluster.bytes.size()) {
    std::copy(from.cluster().begin(), from.cluster().end(), to.cluster.bytes.begin());
  } else if (!from.cluster().empty()) {
    reader.fail(fmt::format("cluster is a UUID of {} bytes", from.cluster().size()));
  }
  to.cluster_name = reader.text(from.cluster_name(), "cluster name");
  to.peer = reader.descriptor(from.peer(), "peer");
  to.version_min = reader.number<std::uint16_t>(from.version_min(), "version_min");
  to.version_max = reader.number<std::uint16_t>(from.version_max(), "version_max");
  if (to.version_min > to.version_max) reader.fail("its range of versions is empty");
  to.features = from.features();
  to.digit_bits = reader.number<std::uint8_t>(from.digit_bits(), "digit_bits");
  to.leaf_set_size = reader.number<std::uint16_t>(from.leaf_set_size(), "leaf_set_size");
  if (!reader.problem().empty()) return malformed("Hello", reader.problem());
  return to;
}

Decoded<HelloReject> decode_hello_reject(const Frame& frame) {
  overlay::HelloReject from;
  if (frame.kind != frame_kind::hello_reject) {
    return malformed("HelloReject", fmt::format("a frame of kind {} came instead", frame.kind));
  }
  if (!parse_header(frame, from) || from.code() > UINT16_MAX) {
    return malformed("HelloReject", "its header is malformed");
  }
  const bool presentable = from.text().size() <= max_reject_text && is_printable(from.text());
  return HelloReject{static_cast<RejectCode>(from.code()),
                     presentable ? from.text() : "(a reason that cannot be printed)"};
}

}  // namespace canopy::wire
