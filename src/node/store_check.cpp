#include "node/store_check.hpp"

#include <filesystem>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "net/clock.hpp"
#include "node/data_directory.hpp"
#include "node/group_files.hpp"
#include "store/check.hpp"
#include "store/recovery.hpp"

namespace canopy::node {
namespace {

namespace json = boost::json;

// Of what there is.
struct Reports {
  std::optional<store::Report> queues;
  std::optional<GroupFiles::Report> groups;

  bool well() const {
    return (!queues || queues->findings.empty()) && (!groups || groups->findings.empty());
  }
};

std::string to_json(const std::string& directory, const Reports& reports) {
  json::array findings;
  const auto add = [&](const auto& report) {
    for (const auto& finding : report.findings)
      findings.push_back({{"file", finding.file}, {"problem", finding.problem}});
  };
  json::object object{{"directory", directory}, {"well", reports.well()}};
  if (const auto& queues = reports.queues) {
    add(*queues);
    object["log"] = {
        {"segments", queues->segments}, {"first", queues->first}, {"last", queues->last}};
    object["store"] = {
        {"files", queues->store_files}, {"entries", queues->entries}, {"applied", queues->applied}};
  }
  if (const auto& groups = reports.groups) {
    add(*groups);
    object["groups"] = {{"kept", groups->kept}, {"deleted", groups->deleted}};
  }
  object["findings"] = std::move(findings);
  return json::serialize(object) + "\n";
}

std::string to_text(const GroupFiles::Report& report) {
  std::string text;
  for (const auto& finding : report.findings)
    text += fmt::format("{} {}\n", finding.file, finding.problem);
  return text + fmt::format("{}: definitions of {} groups, and {} that were deleted\n",
                            report.findings.empty()
                                ? "well"
                                : fmt::format("{} findings", report.findings.size()),
                            report.kept, report.deleted);
}

std::string to_text(const std::string& directory, const Reports& reports) {
  std::string text;
  if (reports.queues) text += directory + ": " + store::to_text(*reports.queues);
  if (reports.groups) text += directory + ": " + to_text(*reports.groups);
  return text;
}

bool keeps_queues(const std::string& directory) {
  std::error_code failed;
  return std::filesystem::is_directory(store::log_directory(directory), failed) ||
         std::filesystem::is_directory(store::store_directory(directory), failed);
}

StoreCheck obstacle(const std::string& directory, const std::string& problem, bool json) {
  if (!json) return {2, fmt::format("{} {}\n", directory, problem)};
  return {2, json::serialize(json::object{{"directory", directory}, {"error", problem}}) + "\n"};
}

}  // namespace

StoreCheck check_store(const std::string& directory, bool json) {
  const bool queues = keeps_queues(directory);
  const bool groups = GroupFiles::any(directory);
  if (!queues && !groups)
    return obstacle(directory,
                    "keeps no queues and no groups: give the directory that canopyd has as --data",
                    json);
  const DirectoryHold hold(directory);
  if (!hold.other().empty())
    return obstacle(directory, "is in use by " + hold.other() + ": stop that one first", json);
  Reports reports;
  if (queues) reports.queues = store::check(directory);
  if (groups) reports.groups = GroupFiles::check(directory, net::wall_now());
  return {reports.well() ? 0 : 1, json ? to_json(directory, reports) : to_text(directory, reports)};
}

}  // namespace canopy::node
