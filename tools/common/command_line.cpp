#include "common/command_line.hpp"

#include <iostream>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "common/escaped.hpp"
#include "common/parse_error.hpp"
#include "common/read_file.hpp"

namespace canopy::tools {

namespace {

constexpr std::string_view config_option = "config";
constexpr std::size_t config_bytes_max = std::size_t{1} << 20;

std::string read_config(const std::string& path) {
  try {
    return read_file(path, config_bytes_max);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("--config: cannot read '" + path + "' (" + error.what() +
                             "): give the path of a readable TOML file");
  }
}

OptionInputs::Pairs environment_variables() {
  OptionInputs::Pairs variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

// The words of the command line as CLI11 takes them apart.
class Flags {
 public:
  Flags(const OptionTable& table, const CommandLineText& text) : table_(table), app_(text.summary) {
    app_.set_version_flag("--version", CANOPY_VERSION);
    app_.allow_extras();
    for (const auto& option : table.options()) {
      const std::string flag = "--" + option->flag();
      if (option->is_switch()) {
        options_.emplace_back(option->flag(), app_.add_flag(flag));
      } else {
        CLI::Option* added = app_.add_option(flag);
        added->expected(1)->take_all();
        options_.emplace_back(option->flag(), added);
      }
    }
  }

  // Throws CLI::ParseError, of which CLI::Success is one.
  OptionInputs::Pairs parse(int argc, const char* const* argv) {
    app_.parse(argc, argv);
    for (const std::string& word : app_.remaining()) {
      const bool flag = word.starts_with("-");
      throw CLI::ExtrasError("unknown " + std::string(flag ? "option " : "argument ") + word +
                                 table_.suggest_flag(word.substr(0, word.find('='))),
                             CLI::ExitCodes::ExtrasError);
    }
    OptionInputs::Pairs pairs;
    for (const auto& [flag, option] : options_)
      for (const std::string& value : option->results()) pairs.emplace_back(flag, value);
    return pairs;
  }

 private:
  const OptionTable& table_;
  CLI::App app_;
  std::vector<std::pair<std::string, CLI::Option*>> options_;
};

void print_help(const OptionTable& table, const CommandLineText& text) {
  std::cout << text.summary << "\n\n" << table.help();
  std::cout << "  -h, --help                print this\n"
               "  --version                 print the version\n";
  for (const auto& option : table.options()) {
    if (!option->in_file()) continue;
    std::cout << "\nEach option can also be given in the environment (--" << option->flag()
              << " as " << option->environment_name() << ")\nor in the file named by --config ("
              << option->name() << " = ..., or below a [group]); a flag beats\n"
              << "the environment, which beats the file.\n";
    break;
  }
  if (!text.examples.empty()) std::cout << "\n" << text.examples;
}

// The configuration file that flags or environment name.
std::optional<std::string> config_path(const OptionTable& table, const OptionInputs& inputs) {
  const Option* option = table.find(config_option);
  if (option == nullptr) return std::nullopt;
  std::optional<std::string> path;
  for (const auto& [name, value] : inputs.environment)
    if (name == option->environment_name()) path = value;
  for (const auto& [flag, value] : inputs.flags)
    if (flag == option->flag()) path = value;
  return path;
}

}  // namespace

std::optional<int> read_command_line(OptionTable& table, const CommandLineText& text, int argc,
                                     const char* const* argv) {
  const std::string program = table.program() + ": ";
  try {
    OptionInputs inputs;
    inputs.flags = Flags(table, text).parse(argc, argv);
    inputs.environment = environment_variables();
    if (auto path = config_path(table, inputs)) {
      inputs.file_name = *path;
      inputs.file_text = read_config(*path);
    }
    for (const std::string& warning : table.apply(inputs))
      std::cerr << program << "warning: " << escaped(warning) << "\n";
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    print_help(table, text);
    return 0;
  } catch (const CLI::CallForVersion&) {
    std::cout << table.program() << " " << CANOPY_VERSION << "\n";
    return 0;
  } catch (const CLI::ParseError& error) {
    std::cerr << program << escaped(words_for(error)) << "\n";
  } catch (const OptionError& error) {
    for (const std::string& problem : error.problems())
      std::cerr << program << escaped(problem) << "\n";
  } catch (const std::exception& error) {  // an unreadable file
    std::cerr << program << escaped(error.what()) << "\n";
  }
  return 2;
}

}  // namespace canopy::tools
