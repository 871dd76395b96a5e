#include "base/option_table.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace canopy {
namespace {

using namespace std::chrono_literals;

enum class Level { quiet, loud };
enum class Profile { lan, wan };

struct Settings {
  std::string name = "node";
  unsigned leaf_set = 16;
  std::vector<Endpoint> seeds;
  std::optional<Endpoint> advertise;
  bool found = false;
  Level level = Level::quiet;
  Profile profile = Profile::lan;
  Duration probe_timeout = 500ms;
  std::size_t body_max = 1U << 20;
};

class OptionTableTest : public testing::Test {
 protected:
  OptionTableTest() {
    table.add("name", settings.name, "this node's name");
    table.add("leaf-set", settings.leaf_set, "size of the leaf set")
        .range(2, 128)
        .check([](unsigned size) -> std::optional<std::string> {
          if (size % 2 == 0) return std::nullopt;
          return "give an even number";
        });
    table.add("join", settings.seeds, "a peer to join through");
    table.add("advertise", settings.advertise, "address for other peers");
    table.add("found", settings.found, "found a cluster if no seed answers");
    table.add("log-level", settings.level, "how much to log")
        .choice("quiet", Level::quiet)
        .choice("loud", Level::loud);
    table.add("profile", settings.profile, "defaults for a kind of network")
        .choice("lan", Profile::lan)
        .choice("wan", Profile::wan);
    table.profiles("profile");
    table.add("config", config, "configuration file").not_in_file();
    table.heading("pastry", "Pastry");
    table.add("pastry.probe-timeout", settings.probe_timeout, "wait for the answer to a probe")
        .range(10ms, 1h)
        .in_profile("wan", 3s);
    table.heading("scribe", "Scribe");
    table.add("scribe.body-max", settings.body_max, "largest message").bytes().range(1024, 1 << 24);
  }

  std::string problems_of(const OptionInputs& inputs) {
    try {
      table.apply(inputs);
    } catch (const OptionError& error) {
      return error.what();
    }
    return "";
  }
  std::string problems_of_flags(OptionInputs::Pairs pairs) {
    OptionInputs inputs;
    inputs.flags = std::move(pairs);
    return problems_of(inputs);
  }
  std::string problems_of_file(std::string text) {
    OptionInputs inputs;
    inputs.file_name = "canopy.toml";
    inputs.file_text = std::move(text);
    return problems_of(inputs);
  }

  Settings settings;
  std::string config;
  OptionTable table{"canopyd"};
};

TEST_F(OptionTableTest, keeps_defaults_when_nothing_is_given) {
  table.apply({});
  EXPECT_EQ(settings.leaf_set, 16U);
  EXPECT_EQ(settings.probe_timeout, 500ms);
  EXPECT_FALSE(settings.advertise);
  EXPECT_EQ(table.find("leaf-set")->source(), OptionSource::built_in);
}

TEST_F(OptionTableTest, reads_every_type_from_flags) {
  EXPECT_EQ(problems_of_flags({{"name", "alpha"},
                               {"leaf-set", "8"},
                               {"join", "10.0.0.1:7400"},
                               {"join", "[::1]:7401"},
                               {"advertise", "peer.example.net:9"},
                               {"found", "true"},
                               {"log-level", "loud"},
                               {"pastry-probe-timeout", "2s"},
                               {"scribe-body-max", "64KiB"}}),
            "");
  EXPECT_EQ(settings.name, "alpha");
  EXPECT_EQ(settings.leaf_set, 8U);
  EXPECT_EQ(settings.seeds, (std::vector<Endpoint>{{"10.0.0.1", 7400}, {"::1", 7401}}));
  EXPECT_EQ(settings.advertise, (Endpoint{"peer.example.net", 9}));
  EXPECT_TRUE(settings.found);
  EXPECT_EQ(settings.level, Level::loud);
  EXPECT_EQ(settings.probe_timeout, 2s);
  EXPECT_EQ(settings.body_max, 65536U);
}

TEST_F(OptionTableTest, reads_every_type_from_a_file) {
  EXPECT_EQ(problems_of_file(R"(
name = "alpha"
leaf-set = 8
join = ["10.0.0.1:7400", "[::1]:7401"]
found = true
log-level = "loud"
[pastry]
probe-timeout = "2s"
[scribe]
body-max = 65536
)"),
            "");
  EXPECT_EQ(settings.name, "alpha");
  EXPECT_EQ(settings.leaf_set, 8U);
  EXPECT_EQ(settings.seeds.size(), 2U);
  EXPECT_TRUE(settings.found);
  EXPECT_EQ(settings.level, Level::loud);
  EXPECT_EQ(settings.probe_timeout, 2s);
  EXPECT_EQ(settings.body_max, 65536U);
  EXPECT_EQ(table.find("pastry.probe-timeout")->source(), OptionSource::file);
}

TEST_F(OptionTableTest, reads_every_type_from_the_environment) {
  OptionInputs inputs;
  inputs.environment = {{"PATH", "/bin"},
                        {"CANOPY_LEAF_SET", "8"},
                        {"CANOPY_JOIN", "10.0.0.1:7400, [::1]:7401"},
                        {"CANOPY_FOUND", "yes"},
                        {"CANOPY_PASTRY_PROBE_TIMEOUT", "250ms"}};
  EXPECT_TRUE(table.apply(inputs).empty());
  EXPECT_EQ(settings.leaf_set, 8U);
  EXPECT_EQ(settings.seeds.size(), 2U);
  EXPECT_TRUE(settings.found);
  EXPECT_EQ(settings.probe_timeout, 250ms);
}

TEST_F(OptionTableTest, values_with_spaces_are_separated_otherwise_in_the_environment) {
  std::vector<std::string> queues;
  table.add("queue", queues, "a queue").separated_by(";");
  OptionInputs inputs;
  inputs.environment = {{"CANOPY_QUEUE", "jobs a=1,2;mails"}};
  table.apply(inputs);
  EXPECT_EQ(queues, (std::vector<std::string>{"jobs a=1,2", "mails"}));
}

TEST_F(OptionTableTest, a_flag_beats_the_environment_which_beats_the_file) {
  OptionInputs inputs;
  inputs.file_text = "name = \"file\"\nleaf-set = 4\njoin = [\"a:1\", \"b:2\"]\n";
  inputs.environment = {{"CANOPY_NAME", "environment"}, {"CANOPY_LEAF_SET", "6"}};
  inputs.flags = {{"leaf-set", "8"}, {"join", "c:3"}};
  table.apply(inputs);
  EXPECT_EQ(settings.name, "environment");
  EXPECT_EQ(settings.leaf_set, 8U);
  EXPECT_EQ(settings.seeds, (std::vector<Endpoint>{{"c", 3}}));  // lists are not mixed
  EXPECT_EQ(table.find("name")->source(), OptionSource::environment);
  EXPECT_EQ(table.find("leaf-set")->source(), OptionSource::flag);
}

TEST_F(OptionTableTest, a_profile_sets_other_defaults_from_whatever_source_it_comes) {
  EXPECT_EQ(problems_of_file("profile = \"wan\"\n"), "");
  EXPECT_EQ(settings.profile, Profile::wan);
  EXPECT_EQ(settings.probe_timeout, 3s);
  EXPECT_EQ(table.find("profile")->source(), OptionSource::file);
  EXPECT_EQ(table.find("pastry.probe-timeout")->source(), OptionSource::profile);
}

TEST_F(OptionTableTest, a_given_value_beats_the_profile) {
  OptionInputs inputs;
  inputs.file_text = "[pastry]\nprobe-timeout = \"1s\"\n";
  inputs.flags = {{"profile", "wan"}};
  table.apply(inputs);
  EXPECT_EQ(settings.probe_timeout, 1s);
}

TEST_F(OptionTableTest, says_what_is_allowed_when_a_value_is_not) {
  EXPECT_EQ(problems_of_flags({{"leaf-set", "7x"}}),
            "--leaf-set: '7x' is not allowed: give an integer from 2 to 128");
  EXPECT_EQ(problems_of_flags({{"leaf-set", "-8"}}),
            "--leaf-set: '-8' is not allowed: give an integer from 2 to 128");
  EXPECT_EQ(problems_of_flags({{"leaf-set", "256"}}),
            "--leaf-set: '256' is out of range: give an integer from 2 to 128");
  EXPECT_EQ(problems_of_flags({{"leaf-set", "7"}}),
            "--leaf-set: '7' is not allowed: give an even number");
  EXPECT_EQ(problems_of_flags({{"log-level", "shrill"}}),
            "--log-level: 'shrill' is not allowed: give one of quiet, loud");
  EXPECT_EQ(problems_of_flags({{"pastry-probe-timeout", "5"}}),
            "--pastry-probe-timeout: '5' is not allowed: give a duration such as 500ms, 2s or "
            "20min from 10ms to 1h");
  EXPECT_EQ(problems_of_flags({{"name", "a"}, {"name", "b"}}),
            "--name: is given 2 times: give it once");
  EXPECT_EQ(settings.leaf_set, 16U);
}

TEST_F(OptionTableTest, names_the_source_of_a_mistake) {
  EXPECT_EQ(problems_of_file("\n\nleaf-set = 1000\n"),
            "canopy.toml:3: leaf-set: '1000' is out of range: give an integer from 2 to 128");
  OptionInputs inputs;
  inputs.environment = {{"CANOPY_LEAF_SET", "many"}};
  EXPECT_EQ(problems_of(inputs),
            "CANOPY_LEAF_SET: 'many' is not allowed: give an integer from 2 to 128");
}

TEST_F(OptionTableTest, a_mistake_that_is_overridden_is_none) {
  OptionInputs inputs;
  inputs.file_text = "leaf-set = 1000\n";
  inputs.flags = {{"leaf-set", "8"}};
  EXPECT_EQ(problems_of(inputs), "");
}

TEST_F(OptionTableTest, unknown_names_are_errors_with_a_suggestion) {
  EXPECT_EQ(problems_of_file("leafset = 4\n"),
            "canopy.toml:1: unknown option 'leafset': did you mean 'leaf-set'?");
  EXPECT_EQ(problems_of_file("[pastry]\nprobe_timeout = \"1s\"\n"),
            "canopy.toml:2: unknown option 'pastry.probe_timeout': did you mean "
            "'pastry.probe-timeout'?");
  EXPECT_EQ(problems_of_file("zebra-crossing = 1\n"),
            "canopy.toml:1: unknown option 'zebra-crossing': canopyd --help lists all");
  EXPECT_EQ(problems_of_file("config = \"x\"\n").substr(0, 38),
            "canopy.toml:1: unknown option 'config'");
  EXPECT_EQ(table.suggest_flag("--lefa-set"), ": did you mean --leaf-set?");
  EXPECT_EQ(table.suggest_flag("--"), ": canopyd --help lists all options");
}

TEST_F(OptionTableTest, warns_of_a_variable_that_looks_like_a_misspelt_option) {
  OptionInputs inputs;
  inputs.environment = {{"CANOPY_LEAFSET", "8"}, {"CANOPY_SOMETHING_ELSE", "x"}};
  const auto warnings = table.apply(inputs);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "CANOPY_LEAFSET is no option and is ignored: did you mean CANOPY_LEAF_SET?");
  EXPECT_EQ(settings.leaf_set, 16U);
}

TEST_F(OptionTableTest, reports_every_mistake_at_once) {
  const std::string text = problems_of_file("leaf-set = 7\nlog-level = 3\nbogus = 1\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST_F(OptionTableTest, refuses_files_that_are_not_toml) {
  EXPECT_EQ(problems_of_file("leaf-set = = 4\n").substr(0, 31), "canopy.toml:1: not valid TOML: ");
  EXPECT_EQ(problems_of_file("leaf-set = [4]\n"),
            "canopy.toml:1: leaf-set takes one value, not a list");
  EXPECT_EQ(problems_of_file("join = [[1]]\n"),
            "canopy.toml:1: join: a list holds plain values only");
}

TEST_F(OptionTableTest, checks_across_options_come_last) {
  table.check([this]() -> std::optional<std::string> {
    if (settings.seeds.empty()) return "--join: give one";
    return std::nullopt;
  });
  EXPECT_EQ(problems_of_flags({{"leaf-set", "7"}}).find("--join"), std::string::npos);
  EXPECT_EQ(problems_of_flags({}), "--join: give one");
}

TEST_F(OptionTableTest, help_shows_defaults_ranges_and_profiles) {
  const std::string help = table.help();
  EXPECT_NE(help.find("--leaf-set N"), std::string::npos);
  EXPECT_NE(help.find("2 to 128; default 16"), std::string::npos);
  EXPECT_NE(help.find("--log-level quiet|loud"), std::string::npos);
  EXPECT_NE(help.find("Pastry:\n  --pastry-probe-timeout DURATION"), std::string::npos);
  EXPECT_NE(help.find("3s with profile wan"), std::string::npos);
  EXPECT_NE(help.find("default 1MiB"), std::string::npos);
  EXPECT_NE(help.find("--join HOST:PORT"), std::string::npos);
}

TEST_F(OptionTableTest, the_effective_configuration_reads_back_the_same) {
  EXPECT_EQ(
      problems_of_flags({{"name", "with \"quotes\" and \\"}, {"join", "a:1"}, {"profile", "wan"}}),
      "");
  const std::string text = table.effective_toml();
  EXPECT_NE(text.find("probe-timeout = \"3s\"  # profile"), std::string::npos);
  EXPECT_NE(text.find("leaf-set = 16  # default"), std::string::npos);
  EXPECT_NE(text.find("# advertise is not set"), std::string::npos);
  settings = Settings{};
  EXPECT_EQ(problems_of_file(text), "");
  EXPECT_EQ(settings.name, "with \"quotes\" and \\");
  EXPECT_EQ(settings.seeds.size(), 1U);
  EXPECT_EQ(settings.probe_timeout, 3s);
}

TEST_F(OptionTableTest, finds_what_is_wrong_with_values_set_past_it) {
  EXPECT_EQ(table.problems(), std::vector<std::string>{});
  table.check([this]() -> std::optional<std::string> {
    if (settings.found) return "do not found";
    return std::nullopt;
  });
  settings.found = true;
  EXPECT_EQ(table.problems(), std::vector<std::string>{"do not found"});
  settings.leaf_set = 7;
  settings.body_max = 1;
  EXPECT_EQ(table.problems(),
            (std::vector<std::string>{"leaf-set: '7' is not allowed: give an even number",
                                      "scribe.body-max: '1' is out of range: give a size such as "
                                      "65536, 64KiB or 1MiB from 1KiB to 16MiB"}));
}

TEST(OptionValue, durations_need_a_unit_and_do_not_overflow) {
  EXPECT_EQ(parse_duration("250us"), 250us);
  EXPECT_EQ(parse_duration("20min"), 20min);
  EXPECT_EQ(parse_duration("0s"), 0s);
  for (const char* wrong : {"", "20", "-1s", "1.5s", "s", "1 s", "9223372036854775807h"})
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(2h), "2h");
  EXPECT_EQ(format_duration(0s), "0s");
}

TEST(OptionValue, seconds_are_whole) {
  using Value = OptionValue<std::chrono::seconds>;
  EXPECT_EQ(Value::parse("2min"), 120s);
  EXPECT_FALSE(Value::parse("1500ms"));
  EXPECT_EQ(Value::format(90s), "90s");
  EXPECT_FALSE(Value::parse(Value::format(-1s)));
  EXPECT_FALSE(Value::format(std::chrono::seconds::max()).empty());
}

TEST(OptionValue, sizes_take_binary_units) {
  EXPECT_EQ(parse_byte_size("64KiB"), 65536U);
  EXPECT_EQ(parse_byte_size("12"), 12U);
  EXPECT_FALSE(parse_byte_size("12kb"));
  EXPECT_FALSE(parse_byte_size("18446744073709551615GiB"));
  EXPECT_EQ(format_byte_size(1536), "1536");
  EXPECT_EQ(format_byte_size(0), "0");
}

TEST(OptionValue, endpoints_need_a_port_and_brackets_around_ipv6) {
  EXPECT_EQ(parse_endpoint("[::1]:80"), (Endpoint{"::1", 80}));
  EXPECT_EQ(parse_endpoint("localhost:0"), (Endpoint{"localhost", 0}));
  for (const char* wrong : {"", "host", "host:", ":80", "::1:80", "host:65536", "[::1:80", "h:8a"})
    EXPECT_FALSE(parse_endpoint(wrong)) << wrong;
  EXPECT_EQ(format_endpoint({"::1", 80}), "[::1]:80");
}

}  // namespace
}  // namespace canopy
