#include "common/cli.hpp"

#include <cstdint>
#include <iostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/words.hpp"
#include "common/escaped.hpp"
#include "common/parse_error.hpp"

namespace canopy::tools::cli {

namespace {

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// Those of the commands above that may follow its words, too.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (!app->get_fallthrough()) break;
  }
  return names;
}

// `before`: the commands in front of the word.
std::string unknown(std::string_view what, std::string_view before, const std::string& given,
                    const std::vector<std::string>& known, std::string_view words) {
  const std::string word = given.substr(0, given.find('='));
  const std::string_view near = nearest_word(word, known);
  return fmt::format("no {} '{}{}': {}", what, before, word,
                     near.empty() ? fmt::format("{}--help lists them", words)
                                  : fmt::format("did you mean {}{}?", before, near));
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::repeatable() {
  // One value each time: what follows it is an argument of its own.
  option_->expected(1)->allow_extra_args(false)->take_all();
  return *this;
}

Option& Option::separated_by(char separator) {
  option_->delimiter(separator);
  return *this;
}

Option& Option::value_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::environment(const std::string& name) {
  option_->envname(name);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::show_default(const std::string& value) {
  option_->default_str(value);
  return *this;
}

Option& Option::check(Check check) {
  option_->check(std::move(check));
  return *this;
}

Option& Option::range(int min, int max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option& Option::range(std::size_t min, std::size_t max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option& Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

Command Command::command(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

void Command::also_called(const std::string& name) { app_->alias(name); }

void Command::require_command() { app_->require_subcommand(1); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::take_options_of_parent() { app_->fallthrough(); }

void Command::action(const std::function<void()>& action) { app_->callback(action); }

template <class Value>
Option Command::option(const std::string& name, Value& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}

Option Command::option_read_by(const std::string& name, const Check& read,
                               const std::string& help) {
  const auto take = [name, read](const CLI::results_t& texts) {
    const std::string problem = read(texts.front());
    if (!problem.empty()) throw CLI::ValidationError(name, problem);
    return true;
  };
  return Option(app_->add_option(name, take, help));
}

Option Command::numbered_choice(const std::string& name, const std::function<void(int)>& set,
                                const std::map<std::string, int>& choices,
                                const std::string& help) {
  CLI::Option* option = app_->add_option_function<int>(name, set, help);
  option->type_name("ENUM")->transform(CLI::CheckedTransformer(choices));
  return Option(option);
}

Option Command::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}

CommandLine::CommandLine(const std::string& program, const std::string& summary,
                         const std::string& version_help)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(summary, program)) {
  app_ = owned_.get();
  app_->set_version_flag("--version", program + " " CANOPY_VERSION, version_help);
}

CommandLine::~CommandLine() = default;

// In one line, with what to do about it.
std::string CommandLine::explained(const std::string& problem) const {
  std::string words = app_->get_name() + " ";
  const CLI::App* innermost = app_;
  while (!innermost->get_subcommands().empty()) {
    innermost = innermost->get_subcommands().front();
    words += innermost->get_name() + " ";
  }
  const std::vector<std::string> commands = names_of(innermost->get_subcommands({}));
  const std::vector<std::string> rest = app_->remaining(true);
  for (const std::string& word : rest)
    if (word.starts_with("-")) return unknown("option", "", word, options_of(*innermost), words);
  if (rest.empty() || commands.empty())
    return fmt::format("{}: {}--help shows how", problem, words);
  const std::string before = words.substr(words.find(' ') + 1);
  return unknown("command", before, rest.front(), commands, words);
}

bool CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {  // --help or --version
    app_->exit(request);
    return false;
  } catch (const CLI::ParseError& error) {
    throw Mistake(explained(words_for(error)));
  } catch (const Mistake& mistake) {
    throw Mistake(explained(mistake.what()));
  }
}

std::optional<int> CommandLine::parse_or_complain(int argc, const char* const* argv) {
  const std::string program = app_->get_name();
  try {
    return parse(argc, argv) ? std::nullopt : std::optional(0);
  } catch (const Mistake& mistake) {
    std::cerr << program << ": " << escaped(mistake.what()) << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << escaped(error.what()) << "\n";
    return 1;
  }
}

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, unsigned&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::string>&,
                                const std::string&);
template Option Command::option(const std::string&, std::optional<double>&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::uint64_t>&,
                                const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::size_t>&, const std::string&);

}  // namespace canopy::tools::cli
