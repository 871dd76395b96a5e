#include "node/known_peers.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <boost/system/system_error.hpp>

#include "base/option_value.hpp"
#include "net/log.hpp"
#include "node/durable_file.hpp"

namespace canopy::node {
namespace {

namespace json = boost::json;

constexpr int format_version = 1;
constexpr auto refresh_pause = std::chrono::hours(24);
constexpr const char* file_name = "peers.json";
constexpr std::size_t file_bytes_max = 64 * 1024;
constexpr std::size_t address_max = 300;  // a host's name has 253 at most

std::string to_text(const Uuid& cluster, const KnownPeers& peers) {
  json::array entries;
  for (const KnownPeer& peer : peers)
    entries.push_back({{"address", peer.address}, {"seen", peer.seen.time_since_epoch().count()}});
  const json::value value{
      {"format", format_version}, {"cluster", cluster.to_string()}, {"peers", std::move(entries)}};
  return json::serialize(value) + "\n";
}

KnownPeers from_text(const std::string& text, const Uuid& cluster) {
  const json::value value = json::parse(text);
  if (value.at("format").to_number<int>() != format_version)
    throw std::runtime_error("its format is of another version of canopyd");
  if (json::value_to<std::string>(value.at("cluster")) != cluster.to_string())
    throw std::runtime_error("it is of another cluster");
  KnownPeers peers;
  for (const json::value& entry : value.at("peers").as_array()) {
    KnownPeer peer;
    peer.address = json::value_to<std::string>(entry.at("address"));
    peer.seen = WallTime(WallTime::duration(entry.at("seen").to_number<std::int64_t>()));
    const bool usable = peer.address.size() <= address_max && parse_endpoint(peer.address);
    if (usable && peers.size() < known_peers_max) peers.push_back(std::move(peer));
  }
  return peers;
}

std::string contents_of(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))  // a pipe would keep the start waiting
    throw std::runtime_error("it is no regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(last_error().message());
  std::string text(file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > file_bytes_max) throw std::runtime_error("it is too long");
  return text;
}

}  // namespace

KnownPeers updated(const KnownPeers& before, const std::vector<std::string>& in_ring,
                   WallTime now) {
  if (in_ring.empty()) return before;
  KnownPeers peers;
  const auto add = [&peers](const KnownPeer& peer) {
    const bool there = std::ranges::any_of(
        peers, [&](const KnownPeer& other) { return other.address == peer.address; });
    if (!there && peers.size() < known_peers_max) peers.push_back(peer);
  };
  for (const std::string& address : in_ring) add({address, now});
  for (const KnownPeer& peer : before)
    if (peer.seen > now - known_peers_age_max) add({peer.address, std::min(peer.seen, now)});
  return peers;
}

std::vector<std::string> addresses_of(const KnownPeers& peers) {
  std::vector<std::string> addresses;
  for (const KnownPeer& peer : peers) addresses.push_back(peer.address);
  return addresses;
}

bool are_news(const KnownPeers& peers, const KnownPeers& on_disk) {
  const auto same = [](const KnownPeer& one, const KnownPeer& other) {
    return one.address == other.address;
  };
  if (!std::ranges::is_permutation(peers, on_disk, same)) return true;
  if (peers.empty() || peers.front().seen <= on_disk.front().seen) return false;
  return peers.front().seen - refresh_pause >= on_disk.front().seen;  // whatever a file says
}

KnownPeers read_known_peers(const std::string& directory, const Uuid& cluster) {
  const std::string path = directory + "/" + file_name;
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return {};
  std::string problem;
  try {
    return from_text(contents_of(path), cluster);
  } catch (const boost::system::system_error& error) {
    problem = error.code().message();  // what() names Boost's own source
  } catch (const std::exception& error) {
    problem = error.what();
  }
  log::warn("{} cannot be used ({}): it is left out", path, problem);
  return {};
}

boost::system::error_code write_known_peers(const std::string& directory, const Uuid& cluster,
                                            const KnownPeers& peers) {
  return replace_file(directory, file_name, to_text(cluster, peers));
}

}  // namespace canopy::node
