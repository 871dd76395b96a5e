#include "node/data_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/file.h>
#include <sys/stat.h>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <boost/system/system_error.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <canopy/options.hpp>

#include "node/durable_file.hpp"
#include "node/entropy.hpp"

namespace canopy::node {
namespace {

namespace json = boost::json;
using boost::system::error_code;

constexpr int format_version = 1;

std::string to_text(const Identity& identity) {
  return json::serialize(json::value{
             {"format", format_version},
             {"name", identity.name},
             {"id", identity.id.to_hex()},
             {"cluster", identity.cluster},
             {"cluster_uuid",
              identity.cluster_uuid.is_nil() ? std::string() : identity.cluster_uuid.to_string()},
             {"store_uuid", identity.store.to_string()},
             {"digit_bits", identity.digit_bits},
             {"leaf_set_size", identity.leaf_set_size},
             {"incarnation", identity.incarnation},
         }) +
         "\n";
}

Uuid uuid_from(const json::value& value, std::string_view key) {
  const auto text = json::value_to<std::string>(value);
  if (text.empty()) return {};
  const std::optional<Uuid> uuid = Uuid::parse(text);
  if (!uuid) throw std::runtime_error(fmt::format("its {} is not a UUID", key));
  return *uuid;
}

Identity from_text(const std::string& text) {
  json::value value = json::parse(text);
  if (value.at("format").to_number<int>() != format_version)
    throw std::runtime_error("its format is of another version of canopyd");
  Identity identity;
  identity.name = json::value_to<std::string>(value.at("name"));
  std::optional<Id> id = Id::from_hex(json::value_to<std::string>(value.at("id")));
  if (!id) throw std::runtime_error("its id is not hexadecimal");
  identity.id = *id;
  identity.cluster = json::value_to<std::string>(value.at("cluster"));
  identity.cluster_uuid = uuid_from(value.at("cluster_uuid"), "cluster_uuid");
  // Directories of earlier versions have none.
  if (const json::value* store = value.as_object().if_contains("store_uuid"))
    identity.store = uuid_from(*store, "store_uuid");
  identity.digit_bits = value.at("digit_bits").to_number<unsigned>();
  identity.leaf_set_size = value.at("leaf_set_size").to_number<unsigned>();
  identity.incarnation = value.at("incarnation").to_number<std::uint64_t>();
  return identity;
}

[[noreturn]] void not_understood(const std::string& name, std::string_view problem) {
  throw StartError(fmt::format(
      "{} cannot be understood ({}): restore it, or start with an empty directory", name, problem));
}

// Nothing if they agree; else what differs, and what to do.
std::string contradiction(const Identity& kept, const Identity& wanted) {
  if (kept.name != wanted.name || kept.id != wanted.id)
    return fmt::format(
        "belongs to the node '{0}', not to '{1}' (without --name, that is the machine's name): "
        "start with --name {0}",
        kept.name, wanted.name);
  const std::string advice = ": start with the same options as before";
  if (kept.cluster != wanted.cluster)
    return fmt::format("belongs to the cluster '{}', not to '{}'", kept.cluster, wanted.cluster) +
           advice;
  if (kept.digit_bits != wanted.digit_bits)
    return fmt::format("belongs to a cluster with digits of {} bits, not {}", kept.digit_bits,
                       wanted.digit_bits) +
           advice;
  if (kept.leaf_set_size != wanted.leaf_set_size)
    return fmt::format("belongs to a cluster with leaf sets of {} peers, not {}",
                       kept.leaf_set_size, wanted.leaf_set_size) +
           advice;
  return {};
}

std::string holder_of(int lock) {
  char text[32] = {};
  ssize_t size = ::pread(lock, text, sizeof text - 1, 0);
  std::string holder(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  holder.erase(
      std::find_if(holder.begin(), holder.end(), [](char c) { return c < '0' || c > '9'; }),
      holder.end());
  return holder.empty() ? "another process" : "process " + holder;
}

int lock_directory(const std::string& path) {
  std::error_code made;
  std::filesystem::create_directories(path, made);
  if (made)
    throw StartError(fmt::format("cannot make the data directory {}: {}", path, made.message()));
  std::string name = path + "/lock";
  int lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0)
    throw StartError(
        fmt::format("cannot write to the data directory {}: {}", path, last_error().message()));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    std::string holder = holder_of(lock);
    ::close(lock);
    throw StartError(fmt::format(
        "the data directory {} is in use by {}: stop that one first, or give this node a "
        "directory of its own",
        path, holder));
  }
  return lock;
}

// For the message that a second process gives; nothing depends on it.
void leave_pid(int lock) {
  std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock, 0) == 0 &&
      ::pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return;
  }
}

}  // namespace

DirectoryHold::DirectoryHold(const std::string& path)
    : lock_(::open((path + "/lock").c_str(), O_RDWR | O_CLOEXEC)) {
  if (lock_ < 0) return;
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    leave_pid(lock_);
  } else {
    other_ = holder_of(lock_);
  }
}

DirectoryHold::~DirectoryHold() {
  if (lock_ >= 0) ::close(lock_);  // which unlocks
}

DataDirectory DataDirectory::open(const std::string& path, const Identity& wanted, WallTime now) {
  DataDirectory directory(path, lock_directory(path));
  leave_pid(directory.lock_);
  Identity identity = wanted;
  identity.cluster_uuid = identity.store = {};
  identity.incarnation = 0;
  if (std::optional<Identity> kept = directory.read()) {
    std::string difference = contradiction(*kept, wanted);
    if (!difference.empty())
      throw StartError(
          fmt::format("the data directory {} {}, or with another directory", path, difference));
    identity = *kept;
  }
  auto wall = static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 1));
  identity.incarnation = std::max(identity.incarnation + 1, wall);
  if (identity.store.is_nil())
    identity.store = Uuid::from_random_bits(system_entropy(), system_entropy());
  if (error_code error = directory.write(identity))
    throw StartError(
        fmt::format("cannot write to the data directory {}: {}", path, error.message()));
  directory.identity_ = std::move(identity);
  return directory;
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      identity_(std::move(other.identity_)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) ::close(lock_);  // which unlocks
}

error_code DataDirectory::set_cluster(const Uuid& cluster) {
  Identity identity = identity_;
  identity.cluster_uuid = cluster;
  error_code error = write(identity);
  if (!error) identity_ = std::move(identity);
  return error;
}

std::optional<Identity> DataDirectory::read() const {
  std::string name = path_ + "/node.json";
  struct stat info {};
  if (::stat(name.c_str(), &info) != 0 && errno == ENOENT) return std::nullopt;
  // A pipe would keep the start waiting.
  if (info.st_mode != 0 && !S_ISREG(info.st_mode))
    throw StartError(
        fmt::format("{} is no regular file: remove it, or give another directory", name));
  std::ifstream file(name, std::ios::binary);
  if (!file) throw StartError(fmt::format("cannot read {}: {}", name, last_error().message()));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return from_text(text);
  } catch (const boost::system::system_error& problem) {
    not_understood(name, problem.code().message());  // what() names Boost's own source
  } catch (const std::exception& problem) {
    not_understood(name, problem.what());
  }
}

error_code DataDirectory::write(const Identity& identity) const {
  return replace_file(path_, "node.json", to_text(identity));
}

}  // namespace canopy::node
