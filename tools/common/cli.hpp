// Command lines made of commands: their options, words and help. By CLI11, which only tools/common
// sees, as it takes longer to compile than all that uses it.
//
// Command and Option are handles, which are copied and are good for as long as the CommandLine that
// they belong to; so must be the variables that they fill. A name without dashes is that of a
// positional word, "--name" or "--name,-n" that of an option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace canopy::tools::cli {

// What is wrong with a text; empty if nothing is.
using Check = std::function<std::string(const std::string&)>;

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& repeatable();                            // one value each time
  Option& separated_by(char separator);            // several values in one word
  Option& value_name(const std::string& name);     // as help calls it
  Option& environment(const std::string& name);    // the variable it is taken from otherwise
  Option& show_default();                          // what the variable holds now
  Option& show_default(const std::string& value);  // in these words

  Option& check(Check check);
  Option& range(int min, int max);
  Option& range(std::size_t min, std::size_t max);
  Option& positive();
  Option& not_negative();

  bool given() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command command(const std::string& name, const std::string& help);
  // Another name by which it can be called.
  void also_called(const std::string& name);
  void require_command();
  // Below its options. Commands that are added later have the same unless they set theirs.
  void footer(const std::string& text);
  // The options of the command above may follow the words of this one, too.
  void take_options_of_parent();
  // What parse() does in the end if this command is the one given; first those of inner commands.
  void action(const std::function<void()>& action);

  // For a std::string, double, unsigned, std::uint64_t, a std::optional of them or a std::vector
  // of texts or numbers: see the end of cli.cpp.
  template <class Value>
  Option option(const std::string& name, Value& value, const std::string& help);
  // `read` makes of the text what it likes.
  Option option_read_by(const std::string& name, const Check& read, const std::string& help);
  template <class Enum>
  Option choice(const std::string& name, Enum& value, const std::map<std::string, Enum>& choices,
                const std::string& help) {
    std::map<std::string, int> numbers;
    for (const auto& [text, choice] : choices) numbers.emplace(text, static_cast<int>(choice));
    const auto set = [&value](int number) { value = static_cast<Enum>(number); };
    return numbered_choice(name, set, numbers, help);
  }
  Option flag(const std::string& name, bool& value, const std::string& help);

 protected:
  Option numbered_choice(const std::string& name, const std::function<void(int)>& set,
                         const std::map<std::string, int>& choices, const std::string& help);

  CLI::App* app_;
};

// What is wrong with the words given, found by parse() or thrown by an action; parse() adds
// what to do.
class Mistake : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class CommandLine : public Command {
 public:
  CommandLine(const std::string& program, const std::string& summary,
              const std::string& version_help = "Display program version information and exit");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Fills the variables and runs the actions. False after --help or --version, which it prints.
  // Throws Mistake, and what actions throw.
  bool parse(int argc, const char* const* argv);

  // parse() for a main(): says what is wrong in one line of standard error. Returns the exit status
  // if the program is to stop here: 0 after --help or --version, 1 if an action failed, 2 after a
  // mistake.
  std::optional<int> parse_or_complain(int argc, const char* const* argv);

 private:
  std::string explained(const std::string& problem) const;

  std::unique_ptr<CLI::App> owned_;
};

}  // namespace canopy::tools::cli
