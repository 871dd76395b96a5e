#include "node/store_check.hpp"

#include <filesystem>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "node/data_directory.hpp"
#include "store/check.hpp"
#include "store/recovery.hpp"

namespace canopy::node {
namespace {

namespace json = boost::json;

std::string to_json(const std::string& directory, const store::Report& report) {
  json::array findings;
  for (const store::Finding& finding : report.findings)
    findings.push_back({{"file", finding.file}, {"problem", finding.problem}});
  return json::serialize(json::object{
             {"directory", directory},
             {"well", report.findings.empty()},
             {"findings", std::move(findings)},
             {"log",
              {{"segments", report.segments}, {"first", report.first}, {"last", report.last}}},
             {"store",
              {{"files", report.store_files},
               {"entries", report.entries},
               {"applied", report.applied}}},
         }) +
         "\n";
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
  if (!keeps_queues(directory))
    return obstacle(directory, "keeps no queues: give the directory that canopyd has as --data",
                    json);
  const DirectoryHold hold(directory);
  if (!hold.other().empty())
    return obstacle(directory, "is in use by " + hold.other() + ": stop that one first", json);
  const store::Report report = store::check(directory);
  return {report.findings.empty() ? 0 : 1,
          json ? to_json(directory, report) : directory + ": " + store::to_text(report)};
}

}  // namespace canopy::node
