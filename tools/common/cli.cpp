#include "common/cli.hpp"

#include <cstdint>
#include <iostream>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/escaped.hpp"

namespace canopy::tools::cli {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::repeatable() {
  option_->expected(1)->take_all();
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

bool CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {  // --help or --version
    app_->exit(request);
    return false;
  } catch (const CLI::ParseError& error) {
    throw Mistake(error.what());
  }
}

Understood CommandLine::understood() const {
  Understood understood;
  const CLI::App* innermost = app_;
  while (!innermost->get_subcommands().empty()) {
    innermost = innermost->get_subcommands().front();
    understood.commands += innermost->get_name() + " ";
  }
  for (const CLI::App* known : innermost->get_subcommands({}))
    understood.following.push_back(known->get_name());
  understood.rest = app_->remaining(true);
  return understood;
}

std::optional<int> CommandLine::parse_or_complain(int argc, const char* const* argv) {
  const std::string program = app_->get_name();
  try {
    return parse(argc, argv) ? std::nullopt : std::optional(0);
  } catch (const Mistake& mistake) {
    const auto [commands, following, rest] = understood();
    const std::string problem =
        commands.empty() && !rest.empty() ? "no command '" + rest.front() + "'" : mistake.what();
    std::cerr << program << ": " << escaped(problem) << ": " << program << " " << commands
              << "--help shows how\n";
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
