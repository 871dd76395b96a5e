#include "base/option_table.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/option_file.hpp"
#include "base/words.hpp"

namespace canopy {

namespace {

constexpr std::string_view environment_prefix = "CANOPY_";

std::string joined_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string group_of(const Option& option) {
  const std::size_t dot = option.name().find('.');
  return dot == std::string::npos ? "" : option.name().substr(0, dot);
}

std::vector<std::string> split_list(std::string_view text, const std::string& separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view source_text(OptionSource source) {
  switch (source) {
    case OptionSource::built_in: return "default";
    case OptionSource::profile: return "profile";
    case OptionSource::file: return "file";
    case OptionSource::environment: return "environment";
    case OptionSource::flag: return "flag";
  }
  return "";
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

OptionError::OptionError(std::vector<std::string> problems)
    : std::runtime_error(joined_lines(problems)), problems_(std::move(problems)) {}

std::string Option::flag() const {
  std::string text = name_;
  std::replace(text.begin(), text.end(), '.', '-');
  return text;
}

std::string Option::environment_name() const {
  std::string text(environment_prefix);
  for (const char c : name_)
    text +=
        c == '-' || c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Sorts what the sources say by option; the sources come from the weakest to
// the strongest.
class OptionTable::Collector {
 public:
  explicit Collector(const OptionTable& table) : table_(table), given(table.options_.size()) {}

  void take_file(const std::string& file_name, std::string_view text) {
    OptionFile file = parse_option_file(file_name, text);
    for (std::string& problem : file.problems) problems.push_back(std::move(problem));
    for (OptionFileEntry& entry : file.entries) {
      const std::string place = fmt::format("{}:{}", file_name, entry.line);
      const std::size_t index = index_where(
          [&](const Option& option) { return option.in_file() && option.name() == entry.name; });
      if (index == table_.options_.size()) {
        problems.push_back(
            fmt::format("{}: unknown option '{}'{}", place, entry.name, suggest_key(entry.name)));
      } else if (entry.list && !table_.options_[index]->repeatable()) {
        problems.push_back(fmt::format("{}: {} takes one value, not a list", place, entry.name));
      } else {
        given[index] = {std::move(entry.values), fmt::format("{}: {}", place, entry.name),
                        OptionSource::file};
      }
    }
  }

  void take_environment(const OptionInputs::Pairs& variables) {
    std::vector<std::string> known;
    for (const auto& option : table_.options_)
      if (option->in_environment()) known.push_back(option->environment_name());
    for (const auto& [name, value] : variables) {
      if (!name.starts_with(environment_prefix)) continue;
      const std::size_t index = index_where([&, &variable = name](const Option& option) {
        return option.in_environment() && option.environment_name() == variable;
      });
      if (index < table_.options_.size()) {
        const Option& option = *table_.options_[index];
        given[index] = {option.repeatable() ? split_list(value, option.separators())
                                            : std::vector<std::string>{value},
                        name, OptionSource::environment};
      } else if (const auto near = nearest_word(name, known);
                 !near.empty() && edit_distance(name, near) <= 2) {
        warnings.push_back(
            fmt::format("{} is no option and is ignored: did you mean {}?", name, near));
      }
    }
  }

  void take_flags(const OptionInputs::Pairs& flags) {
    for (const auto& [flag, value] : flags) {
      const std::size_t index =
          index_where([&, &word = flag](const Option& option) { return option.flag() == word; });
      if (index == table_.options_.size()) {
        problems.push_back(fmt::format("unknown option --{}{}", flag, table_.suggest_flag(flag)));
        continue;
      }
      Given& entry = given[index];
      if (entry.source != OptionSource::flag) entry = {{}, "--" + flag, OptionSource::flag};
      entry.values.push_back(value);
    }
  }

 private:
  template <class Predicate>
  std::size_t index_where(Predicate matches) const {
    const auto found = std::find_if(table_.options_.begin(), table_.options_.end(),
                                    [&](const auto& option) { return matches(*option); });
    return static_cast<std::size_t>(found - table_.options_.begin());
  }

  std::string suggest_key(std::string_view key) const {
    std::vector<std::string> known;
    for (const auto& option : table_.options_)
      if (option->in_file()) known.push_back(option->name());
    const std::string_view near = nearest_word(key, known);
    if (near.empty()) return fmt::format(": {} --help lists all", table_.program_);
    return fmt::format(": did you mean '{}'?", near);
  }

  const OptionTable& table_;

 public:
  std::vector<Given> given;  // by option; without a source: built_in
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
};

void OptionTable::insert(std::unique_ptr<Option> option) {
  for (const auto& other : options_) CANOPY_ASSERT(other->flag() != option->flag());
  const std::string group = group_of(*option);
  CANOPY_ASSERT(group.empty() || std::any_of(headings_.begin(), headings_.end(),
                                             [&](auto& known) { return known.first == group; }));
  options_.push_back(std::move(option));
}

void OptionTable::heading(std::string group, std::string text) {
  headings_.emplace_back(std::move(group), std::move(text));
}

const Option* OptionTable::find(std::string_view name) const {
  for (const auto& option : options_)
    if (option->name() == name) return option.get();
  return nullptr;
}

void OptionTable::assign_one(Option& option, const Given& given,
                             std::vector<std::string>& problems) {
  if (auto problem = option.assign(given.values)) {
    problems.push_back(fmt::format("{}: {}", given.place, *problem));
  } else {
    option.source_ = given.source;
  }
}

std::string OptionTable::select_profile(std::vector<Given>& given,
                                        std::vector<std::string>& problems) {
  for (std::size_t i = 0; i < options_.size(); ++i) {
    Option& option = *options_[i];
    if (option.name() != profile_option_) continue;
    if (given[i].source != OptionSource::built_in) assign_one(option, given[i], problems);
    given[i].source = OptionSource::built_in;  // is dealt with
    const auto selected = option.current();
    return selected.empty() ? "" : selected.front();
  }
  return "";
}

void OptionTable::check_across(std::vector<std::string>& problems) const {
  if (!problems.empty()) return;
  for (const auto& test : checks_)
    if (auto problem = test()) problems.push_back(std::move(*problem));
}

std::vector<std::string> OptionTable::problems() {
  std::vector<std::string> problems;
  for (const auto& option : options_) {
    const std::vector<std::string> values = option->current();
    if (fmt::format("{}", fmt::join(values, ", ")) != option->default_text())
      assign_one(*option, {values, option->name(), option->source()}, problems);
  }
  check_across(problems);
  return problems;
}

std::vector<std::string> OptionTable::apply(const OptionInputs& inputs) {
  Collector collector(*this);
  if (inputs.file_text) collector.take_file(inputs.file_name, *inputs.file_text);
  collector.take_environment(inputs.environment);
  collector.take_flags(inputs.flags);

  std::vector<std::string>& problems = collector.problems;
  const std::string profile = select_profile(collector.given, problems);
  for (std::size_t i = 0; i < options_.size(); ++i) {
    Option& option = *options_[i];
    if (collector.given[i].source != OptionSource::built_in) {
      assign_one(option, collector.given[i], problems);
      continue;
    }
    for (const auto& [name, text] : option.profile_defaults_) {
      if (name == profile)
        assign_one(option, {{text}, "profile " + profile, OptionSource::profile}, problems);
    }
  }
  check_across(problems);
  if (!problems.empty()) throw OptionError(std::move(problems));
  return std::move(collector.warnings);
}

std::string OptionTable::suggest_flag(std::string_view word) const {
  std::vector<std::string> known{"help", "version"};
  for (const auto& option : options_) known.push_back(option->flag());
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  const std::string_view near = nearest_word(word, known);
  if (near.empty()) return fmt::format(": {} --help lists all options", program_);
  return fmt::format(": did you mean --{}?", near);
}

std::string OptionTable::help() const {
  constexpr std::size_t left = 28;
  constexpr std::size_t width = 80;
  std::string out;
  const auto list_group = [&](const std::string& group, const std::string& title) {
    out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", title);
    for (const auto& option : options_) {
      if (group_of(*option) != group) continue;
      std::string head = "  --" + option->flag();
      if (!option->is_switch()) head += " " + option->value_name();
      std::string text = option->help();
      std::string notes;
      const auto note = [&notes](const std::string& part) {
        notes += (notes.empty() ? "" : "; ") + part;
      };
      if (option->repeatable()) note("repeatable");
      if (!option->range_text().empty()) note(option->range_text());
      if (!option->is_switch() && !option->default_text().empty())
        note("default " + option->default_text());
      for (const auto& [profile, value] : option->profile_defaults())
        note(fmt::format("{} with {} {}", value, profile_option_, profile));
      if (!notes.empty()) text += " (" + notes + ")";
      const auto lines = wrap_words(text, width - left);
      std::size_t next = 0;
      if (head.size() + 2 <= left) {
        out += fmt::format("{:<{}}{}\n", head, left, lines.empty() ? "" : lines[next++]);
      } else {
        out += head + "\n";
      }
      for (; next < lines.size(); ++next) out += fmt::format("{:<{}}{}\n", "", left, lines[next]);
    }
  };
  list_group("", "Options");
  for (const auto& [group, title] : headings_) list_group(group, title);
  return out;
}

std::string OptionTable::effective_toml() const {
  std::string out;
  const auto list_group = [&](const std::string& group) {
    for (const auto& option : options_) {
      if (group_of(*option) != group || !option->in_file()) continue;
      const std::string key =
          group.empty() ? option->name() : option->name().substr(group.size() + 1);
      std::vector<std::string> values = option->current();
      if (option->source() == OptionSource::built_in && values == std::vector<std::string>{""})
        values.clear();  // an empty text stands for "not set"
      if (!option->is_number())
        for (std::string& value : values) value = toml_quoted(value);
      if (option->repeatable()) {
        out += fmt::format("{} = [{}]", key, fmt::join(values, ", "));
      } else if (values.empty()) {
        out += fmt::format("# {} is not set", key);
      } else {
        out += fmt::format("{} = {}", key, values.front());
      }
      out += fmt::format("  # {}\n", source_text(option->source()));
    }
  };
  list_group("");
  for (const auto& [group, title] : headings_) {
    out += fmt::format("\n[{}]\n", group);
    list_group(group);
  }
  return out;
}

}  // namespace canopy
