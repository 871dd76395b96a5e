// members, and what join --presence prints.
#include "canopy/presence.hpp"

#include <csignal>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace asio = boost::asio;
namespace control = wire::control;
namespace json = boost::json;

namespace {

constexpr auto watch_interval = std::chrono::seconds(1);

// "+2: b and 1 more", or nothing.
std::string changes_text(char sign, const std::vector<control::MemberName>& names,
                         std::uint64_t more) {
  if (names.empty() && more == 0) return "";
  std::string text = fmt::format("{}{}", sign, names.size() + more);
  for (const control::MemberName& name : names)
    text += (&name == &names.front() ? ": " : ", ") + name.name;
  if (!names.empty() && more != 0) text += fmt::format(" and {} more", more);
  return text;
}

json::array list_of(const std::vector<control::MemberName>& names) {
  json::array list;
  for (const control::MemberName& name : names)
    list.push_back(json::object{{"id", name.id.to_hex()}, {"name", name.name}});
  return list;
}

void print_count(const Context& context, const control::MemberCount& count) {
  if (!context.json) return print_line(member_count_text(count.members, count.complete));
  json::object object;
  put_group(object, count.group);
  object["members"] = count.members;
  object["complete"] = count.complete;
  print_json(object);
}

control::MemberCount ask_for_count(Context& context, const std::string& group,
                                   const control::GetMembers& question) {
  return about(group, [&] {
    return context.client.ask<control::MemberCount>(question, context.deadline());
  });
}

// Until a signal comes, or the time is over.
int watch(Context& context, const std::string& group, const control::GetMembers& question) {
  Client& client = context.client;
  Client::Deadline end;
  if (context.timeout) end = std::chrono::steady_clock::now() + *context.timeout;
  bool interrupted = false;
  asio::signal_set signals(client.io(), SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) interrupted = true;
  });
  std::optional<control::MemberCount> shown;
  while (true) {
    const auto count = ask_for_count(context, group, question);
    if (count != shown) print_count(context, count);
    shown = count;
    bool waited = false;
    asio::steady_timer timer(client.io(), watch_interval);
    timer.async_wait([&](boost::system::error_code error) {
      if (!error) waited = true;
    });
    const bool in_time = client.run([&] { return waited || interrupted; }, end);
    timer.cancel();
    if (interrupted || !in_time) return 0;
  }
}

}  // namespace

std::string member_count_text(std::uint64_t members, bool complete) {
  return fmt::format("{}{} member{}", complete ? "" : "about ", members, members == 1 ? "" : "s");
}

std::string text_of(const control::Presence& presence) {
  const std::string joined = changes_text('+', presence.joined, presence.more_joined);
  const std::string left = changes_text('-', presence.left, presence.more_left);
  std::string text = member_count_text(presence.members, presence.complete);
  if (joined.empty() && left.empty()) return text;
  return fmt::format("{} ({}{}{})", text, joined, joined.empty() || left.empty() ? "" : "; ", left);
}

void put_presence(json::object& object, const control::Presence& presence) {
  object["members"] = presence.members;
  object["complete"] = presence.complete;
  object["joined"] = list_of(presence.joined);
  object["left"] = list_of(presence.left);
  object["more_joined"] = presence.more_joined;
  object["more_left"] = presence.more_left;
}

int run(Context& context, const MembersCommand& command) {
  const control::GetMembers question{group_of(context, command.group), command.token};
  if (command.watch) return watch(context, command.group, question);
  print_count(context, ask_for_count(context, command.group, question));
  return 0;
}

}  // namespace canopy::tools
