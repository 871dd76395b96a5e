#include "node/group_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include <canopy/options.hpp>

#include "base/ed25519.hpp"
#include "node/durable_file.hpp"
#include "store/posix_disk.hpp"
#include "wire/state_codec.hpp"

namespace canopy::node {
namespace {

namespace fs = std::filesystem;
using boost::system::error_code;

constexpr std::string_view file_magic = "canopy group 1\n\n";
constexpr std::size_t digest_size = 32;
constexpr std::size_t time_size = 8;
constexpr const char* file_suffix = ".group";
constexpr const char* fresh_suffix = ".new";

std::string digest_of(std::string_view bytes) {
  const auto digest = sha256(bytes);
  return {digest.begin(), digest.end()};
}

std::uint64_t millis(WallTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

std::string to_bytes(const wire::GroupState& state, WallTime now) {
  const std::uint64_t forget_at =
      state.deleted() ? millis(now + std::chrono::milliseconds(state.deleted_for_ms)) : 0;
  std::string bytes(file_magic);
  for (unsigned shift = 64; shift > 0; shift -= 8)
    bytes += static_cast<char>(forget_at >> (shift - 8) & 0xff);
  bytes += wire::encode_state(state);
  return bytes + digest_of(bytes);
}

// Why a file cannot be taken.
struct Problem {
  std::string text;
};

[[noreturn]] void damaged(std::string_view problem) {
  throw Problem{
      fmt::format("is damaged ({}): restore it; or remove it, if other peers of the cluster keep "
                  "the group, too",
                  problem)};
}

struct Kept {
  wire::GroupState state;
  bool over = false;  // deleted, and to be forgotten
};

Kept from_bytes(const fs::path& file, std::string_view bytes, WallTime now) {
  if (bytes.size() < file_magic.size() + time_size + digest_size || !bytes.starts_with(file_magic))
    damaged("it is no group's, or cut short");
  const std::string_view content = bytes.substr(0, bytes.size() - digest_size);
  if (digest_of(content) != bytes.substr(content.size())) damaged("its checksum is wrong");
  std::uint64_t forget_at = 0;
  for (std::size_t i = 0; i < time_size; ++i)
    forget_at = forget_at << 8 | static_cast<std::uint8_t>(content[file_magic.size() + i]);
  auto state = wire::decode_state(content.substr(file_magic.size() + time_size));
  if (!state) damaged(state.error().reason);
  if (file.stem().string() != state->group.to_hex()) damaged("it is another group's");
  Kept kept{std::move(*state)};
  if (!kept.state.deleted()) return kept;
  kept.over = forget_at <= millis(now);
  if (!kept.over) {
    const std::uint64_t left = forget_at - millis(now);
    kept.state.deleted_for_ms = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, ~0U));
  }
  return kept;
}

std::string contents_of(const fs::path& file) {
  if (!fs::is_regular_file(file)) damaged("it is no regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Problem{fmt::format("cannot be read: {}", last_error().message())};
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string directory_of(const std::string& data_directory) { return data_directory + "/groups"; }

// In the order of their names.
std::vector<fs::path> files_in(const std::string& directory, std::error_code& unreadable) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, unreadable))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

GroupFiles::GroupFiles(const std::string& data_directory)
    : directory_(directory_of(data_directory)) {
  std::error_code made;
  fs::create_directories(directory_, made);
  if (made)
    throw StartError(fmt::format("cannot make the directory {}: {}", directory_, made.message()));
  if (const error_code error = store::sync_directory(data_directory))
    throw StartError(fmt::format("cannot write to {}: {}", data_directory, error.message()));
}

std::vector<wire::GroupState> GroupFiles::read(WallTime now) const {
  std::error_code unreadable;
  const std::vector<fs::path> files = files_in(directory_, unreadable);
  if (unreadable)
    throw StartError(fmt::format("cannot read {}: {}", directory_, unreadable.message()));
  std::vector<wire::GroupState> states;
  for (const fs::path& file : files) {
    std::error_code ignored;
    if (file.extension() == fresh_suffix) {  // of a write that was never confirmed
      fs::remove(file, ignored);
      continue;
    }
    if (file.extension() != file_suffix) continue;
    try {
      Kept kept = from_bytes(file, contents_of(file), now);
      if (kept.over)
        fs::remove(file, ignored);
      else
        states.push_back(std::move(kept.state));
    } catch (const Problem& problem) {
      throw StartError(fmt::format("{} {}", file.string(), problem.text));
    }
  }
  return states;
}

GroupFiles::Report GroupFiles::check(const std::string& data_directory, WallTime now) {
  Report report;
  const std::string directory = directory_of(data_directory);
  std::error_code unreadable;
  for (const fs::path& file : files_in(directory, unreadable)) {
    if (file.extension() != file_suffix) continue;
    try {
      const Kept kept = from_bytes(file, contents_of(file), now);
      ++(kept.state.deleted() ? report.deleted : report.kept);
    } catch (const Problem& problem) {
      report.findings.push_back({file.string(), problem.text});
    }
  }
  if (unreadable) report.findings.push_back({directory, unreadable.message()});
  return report;
}

bool GroupFiles::any(const std::string& data_directory) {
  std::error_code failed;
  return fs::is_directory(directory_of(data_directory), failed);
}

error_code GroupFiles::write(const std::vector<Change>& changes, WallTime now) const {
  for (const Change& change : changes) {
    if (!change.state) continue;
    const std::string fresh = path_of(change.id) + fresh_suffix;
    if (error_code error = write_file(fresh, to_bytes(*change.state, now))) return error;
  }
  for (const Change& change : changes) {
    const std::string path = path_of(change.id);
    const int failed = change.state ? ::rename((path + fresh_suffix).c_str(), path.c_str())
                                    : ::unlink(path.c_str());
    if (failed != 0 && (change.state || errno != ENOENT)) return last_error();
  }
  return store::sync_directory(directory_);
}

std::string GroupFiles::path_of(const Id& id) const {
  return directory_ + "/" + id.to_hex() + file_suffix;
}

}  // namespace canopy::node
