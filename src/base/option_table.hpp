// The option table: each option is declared once, and from that one line come
// its flag, its environment variable, its key in the configuration file, its
// help text, its default and its checks.
//
//   DaemonSettings settings;
//   OptionTable table("canopyd");
//   table.add("leaf-set", settings.pastry.leaf_set_size, "size of the leaf set, |L|")
//       .range(2, 128);
//   table.add("pastry.probe-timeout", settings.pastry.probe_timeout, "...")
//       .range(10ms, 1h)
//       .in_profile("wan", pastry::Config::wan().probe_timeout);
//   table.apply(inputs);        // throws OptionError: every problem, not just the first
//
// An option is bound to a variable, whose value at the time of add() is the
// default. Its name gives the rest: "pastry.probe-timeout" is the flag
// --pastry-probe-timeout, the variable CANOPY_PASTRY_PROBE_TIMEOUT, and the key
// probe-timeout of the table [pastry] in the file. A flag beats the
// environment, which beats the file, which beats the profile's default, which
// beats the built-in one. A list takes all its values from the strongest source
// that gives any.
//
// Does no I/O: the caller brings the words of the command line, the environment
// and the text of the file. Bound variables must outlive the table. Not
// thread-safe.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/option_value.hpp"

namespace canopy {

// Thrown by apply(): what() holds one line a problem, each of which names the
// option, where it was given, the value, what is allowed and what to do.
class OptionError : public std::runtime_error {
 public:
  explicit OptionError(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  std::vector<std::string> problems_;
};

// From the weakest to the strongest.
enum class OptionSource : std::uint8_t { built_in, profile, file, environment, flag };

struct OptionInputs {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs flags;            // "leaf-set" -> "8"; a switch without a value -> "true"
  Pairs environment;      // variables; those that do not start with CANOPY_ are ignored
  std::string file_name;  // for messages
  std::optional<std::string> file_text;  // TOML
};

// One option, without its type.
class Option {
 public:
  Option(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  virtual ~Option() = default;
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  const std::string& name() const noexcept { return name_; }
  const std::string& help() const noexcept { return help_; }
  std::string flag() const;              // without the dashes
  std::string environment_name() const;  // CANOPY_...
  bool in_file() const noexcept { return in_file_; }
  bool in_environment() const noexcept { return in_environment_; }
  OptionSource source() const noexcept { return source_; }
  const std::string& default_text() const noexcept { return default_text_; }
  const OptionInputs::Pairs& profile_defaults() const noexcept { return profile_defaults_; }
  // Characters between the values of a list in the environment.
  const std::string& separators() const noexcept { return separators_; }

  virtual bool is_switch() const noexcept = 0;  // needs no value on the command line
  virtual bool repeatable() const noexcept = 0;
  virtual bool is_number() const noexcept = 0;  // stands without quotes in a file
  virtual std::string value_name() const = 0;
  virtual std::string range_text() const = 0;            // "2 to 128", or empty
  virtual std::string allowed() const = 0;               // "an integer from 2 to 128"
  virtual std::vector<std::string> current() const = 0;  // the variable's value as text
  // Sets the variable, or leaves it alone and says what is wrong.
  virtual std::optional<std::string> assign(const std::vector<std::string>& texts) = 0;

 protected:
  friend class OptionTable;
  std::string name_;
  std::string help_;
  std::string value_name_;  // empty: the type's
  std::string separators_ = ", ";
  std::string default_text_;
  OptionInputs::Pairs profile_defaults_;  // profile -> text
  bool in_file_ = true;
  bool in_environment_ = true;
  OptionSource source_ = OptionSource::built_in;
};

namespace detail {
template <class T>
struct OptionElement {
  using type = T;
  static constexpr bool list = false;
};
template <class T>
struct OptionElement<std::vector<T>> {
  using type = T;
  static constexpr bool list = true;
};
template <class T>
struct OptionElement<std::optional<T>> {
  using type = T;
  static constexpr bool list = false;
};
}  // namespace detail

// T is std::string, bool, an integer, Duration, Endpoint, an enum with
// choices, or a std::optional (may stay unset) or std::vector (repeatable) of
// those. The modifiers are meant to be chained behind OptionTable::add().
template <class T>
class TypedOption final : public Option {
 public:
  using Element = typename detail::OptionElement<T>::type;
  static constexpr bool list = detail::OptionElement<T>::list;

  TypedOption(std::string name, T& target, std::string help)
      : Option(std::move(name), std::move(help)), target_(target) {}

  // Both ends are allowed.
  TypedOption& range(Element min, Element max) {
    static_assert(std::totally_ordered<Element>);
    CANOPY_ASSERT(min <= max);
    range_.emplace(std::move(min), std::move(max));
    return *this;
  }

  // Only declared choices are accepted. Enums need them.
  TypedOption& choice(std::string text, Element value) {
    choices_.emplace_back(std::move(text), std::move(value));
    update_default();
    return *this;
  }

  // An integer that counts bytes: 64KiB, 1MiB.
  TypedOption& bytes() {
    static_assert(std::is_integral_v<Element> && !std::is_same_v<Element, bool>);
    bytes_ = true;
    update_default();
    return *this;
  }

  // The default under this profile (see OptionTable::profiles).
  TypedOption& in_profile(std::string profile, const T& value) {
    if (texts_of(value) == texts_of(target_)) return *this;
    CANOPY_ASSERT(!list);
    profile_defaults_.emplace_back(std::move(profile), texts_of(value).at(0));
    return *this;
  }

  // A further check: gives the reason for which a value is refused.
  TypedOption& check(std::function<std::optional<std::string>(const Element&)> test) {
    check_ = std::move(test);
    return *this;
  }

  TypedOption& value_name(std::string name) {
    value_name_ = std::move(name);
    return *this;
  }

  // Of a list whose values have commas or spaces of their own.
  TypedOption& separated_by(std::string characters) {
    static_assert(list);
    separators_ = std::move(characters);
    return *this;
  }

  TypedOption& not_in_file() {
    in_file_ = false;
    return *this;
  }

  TypedOption& flag_only() {
    in_file_ = in_environment_ = false;
    return *this;
  }

  bool is_switch() const noexcept override { return std::is_same_v<T, bool>; }
  bool repeatable() const noexcept override { return list; }
  bool is_number() const noexcept override { return std::is_integral_v<Element> && !bytes_; }

  std::string value_name() const override {
    if (!value_name_.empty()) return value_name_;
    if (!choices_.empty()) return joined_choices("|");
    if (bytes_) return "BYTES";
    if constexpr (!std::is_enum_v<Element>) return std::string(OptionValue<Element>::value_name);
    return "";
  }

  std::string allowed() const override {
    if (!choices_.empty()) return "one of " + joined_choices(", ");
    if constexpr (std::is_enum_v<Element>) {
      return "";
    } else {
      std::string text(bytes_ ? "a size such as 65536, 64KiB or 1MiB" : OptionValue<Element>::what);
      if (range_) text += " from " + range_text();
      return text;
    }
  }

  std::string range_text() const override {
    return range_ ? format(range_->first) + " to " + format(range_->second) : "";
  }

  std::vector<std::string> current() const override { return texts_of(target_); }

  std::optional<std::string> assign(const std::vector<std::string>& texts) override {
    std::vector<Element> values;
    for (const std::string& text : texts) {
      std::optional<Element> value = parse(text);
      if (!value) return "'" + text + "' is not allowed: give " + allowed();
      if (out_of_range(*value)) return "'" + text + "' is out of range: give " + allowed();
      if (check_) {
        if (auto problem = check_(*value)) return "'" + text + "' is not allowed: " + *problem;
      }
      values.push_back(std::move(*value));
    }
    if constexpr (list) {
      target_ = std::move(values);
    } else {
      if (values.size() != 1)
        return "is given " + std::to_string(values.size()) + " times: give it once";
      target_ = std::move(values.front());
    }
    return std::nullopt;
  }

  void update_default() {
    default_text_.clear();
    for (const std::string& text : texts_of(target_))
      default_text_ += (default_text_.empty() ? "" : ", ") + text;
  }

 private:
  std::optional<Element> parse(const std::string& text) const {
    for (const auto& [name, value] : choices_)
      if (name == text) return value;
    if (!choices_.empty()) return std::nullopt;
    if constexpr (std::is_enum_v<Element>) {
      return std::nullopt;
    } else {
      if constexpr (std::is_integral_v<Element> && !std::is_same_v<Element, bool>) {
        if (bytes_) {
          auto size = parse_byte_size(text);
          if (!size || !std::in_range<Element>(*size)) return std::nullopt;
          return static_cast<Element>(*size);
        }
      }
      return OptionValue<Element>::parse(text);
    }
  }

  bool out_of_range(const Element& value) const {
    if constexpr (std::totally_ordered<Element>)
      return range_ && (value < range_->first || range_->second < value);
    return false;
  }

  std::string format(const Element& value) const {
    for (const auto& [name, choice] : choices_)
      if (choice == value) return name;
    if constexpr (std::is_enum_v<Element>) {
      return "";
    } else {
      if constexpr (std::is_integral_v<Element> && !std::is_same_v<Element, bool>) {
        if (bytes_) return format_byte_size(static_cast<std::uint64_t>(value));
      }
      return OptionValue<Element>::format(value);
    }
  }

  std::vector<std::string> texts_of(const T& value) const {
    std::vector<std::string> texts;
    if constexpr (list) {
      for (const Element& element : value) texts.push_back(format(element));
    } else if constexpr (std::is_same_v<T, std::optional<Element>>) {
      if (value) texts.push_back(format(*value));
    } else {
      texts.push_back(format(value));
    }
    return texts;
  }

  std::string joined_choices(std::string_view separator) const {
    std::string text;
    for (const auto& [name, value] : choices_) {
      if (!text.empty()) text += separator;
      text += name;
    }
    return text;
  }

  T& target_;
  std::optional<std::pair<Element, Element>> range_;
  std::vector<std::pair<std::string, Element>> choices_;
  std::function<std::optional<std::string>(const Element&)> check_;
  bool bytes_ = false;
};

class OptionTable {
 public:
  // `program` is named in messages ("canopyd --help lists all options").
  explicit OptionTable(std::string program) : program_(std::move(program)) {}

  // Declares an option. The name is lower case words with dashes, and one dot
  // behind the group if it has one.
  template <class T>
  TypedOption<T>& add(std::string name, T& target, std::string help) {
    auto option = std::make_unique<TypedOption<T>>(std::move(name), target, std::move(help));
    option->update_default();
    TypedOption<T>& reference = *option;
    insert(std::move(option));
    return reference;
  }

  // Declares a group, and the heading under which help lists the options whose
  // names start with "<group>."; comes before those options.
  void heading(std::string group, std::string text);

  // The option of this name (a choice among the profiles' names) selects the profile.
  void profiles(std::string option_name) { profile_option_ = std::move(option_name); }

  // A check across options, made when each of them is right by itself.
  void check(std::function<std::optional<std::string>()> test) {
    checks_.push_back(std::move(test));
  }

  // Sets the variables. Throws OptionError after having looked at everything.
  // Returns warnings: environment variables that look like a misspelt option.
  std::vector<std::string> apply(const OptionInputs& inputs);

  // What apply() would refuse of values that the variables were given since add(),
  // past the table.
  std::vector<std::string> problems();

  const std::string& program() const noexcept { return program_; }
  const std::vector<std::unique_ptr<Option>>& options() const noexcept { return options_; }
  const Option* find(std::string_view name) const;

  // The options with their defaults, for --help.
  std::string help() const;

  // What is in force, as a configuration file, with each value's source.
  std::string effective_toml() const;

  // ": did you mean --leaf-set?" for a word that resembles a flag; else empty.
  std::string suggest_flag(std::string_view word) const;

 private:
  struct Given {
    std::vector<std::string> values;
    std::string place;  // "--leaf-set", "CANOPY_LEAF_SET", "canopy.toml:3: leaf-set"
    OptionSource source = OptionSource::built_in;
  };
  class Collector;

  void insert(std::unique_ptr<Option> option);
  std::string select_profile(std::vector<Given>& given, std::vector<std::string>& problems);
  void assign_one(Option& option, const Given& given, std::vector<std::string>& problems);
  void check_across(std::vector<std::string>& problems) const;

  std::string program_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::pair<std::string, std::string>> headings_;
  std::vector<std::function<std::optional<std::string>()>> checks_;
  std::string profile_option_;
};

}  // namespace canopy
