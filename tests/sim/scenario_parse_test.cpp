#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/scenario.hpp"

namespace canopy::sim {
namespace {

constexpr const char* head =
    R"("id_bits": 16, "b": 2, "leaf_set_size": 4, "neighborhood_size": 4, "tables": "ideal")";
constexpr const char* two_nodes =
    R"([{"name": "node-00", "x": 56, "y": 939}, {"name": "node-01", "x": 781.5, "y": 324}])";

std::string scenario(const std::string& nodes, const std::string& steps) {
  return fmt::format(R"({{{}, "nodes": {}, "steps": {}}})", head, nodes, steps);
}

std::string error_of(const std::string& text) {
  try {
    parse_scenario(text);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "none";
}

std::string error_of_steps(const std::string& steps) {
  return error_of(scenario(two_nodes, steps));
}

TEST(ParseScenario, reads_constants_nodes_and_steps) {
  const Scenario parsed = parse_scenario(scenario(two_nodes, R"([
      {"op": "create", "group": "prices", "creator": "node-00"},
      {"op": "join", "group": "prices", "node": "node-01"},
      {"op": "route", "node": "node-00", "key": "2A"},
      {"op": "fail", "node": "node-00"},
      {"op": "tree", "group": "prices"}])"));
  EXPECT_EQ(parsed.id_bits, 16U);
  EXPECT_EQ(parsed.b, 2U);
  EXPECT_EQ(parsed.nodes[1].point.x, 781.5);
  EXPECT_EQ(parsed.nodes[1].id, Id::hash_of("node-01", 16));
  ASSERT_EQ(parsed.steps.size(), 5U);
  EXPECT_EQ(parsed.steps[0].op, Scenario::Op::create);
  EXPECT_EQ(parsed.steps[0].node, 0U);
  EXPECT_EQ(parsed.steps[1].group, "prices");
  EXPECT_EQ(parsed.steps[2].key, Id::from_hex("002a"));
}

TEST(ParseScenario, finds_nodes_by_id) {
  const std::string id = Id::hash_of("node-01", 16).to_hex(16);
  const Scenario parsed =
      parse_scenario(scenario(two_nodes, R"([{"op": "fail", "node": ")" + id + R"("}])"));
  EXPECT_EQ(parsed.steps[0].node, 1U);
}

TEST(ParseScenario, names_the_field_that_is_wrong) {
  EXPECT_NE(error_of("{").find("not JSON"), std::string::npos);
  EXPECT_EQ(error_of("[]"), "the scenario must be an object");
  EXPECT_EQ(error_of("{}"), "id_bits is missing");
  EXPECT_EQ(error_of(R"({"id_bits": "16"})"), "id_bits must be a number");
  EXPECT_EQ(error_of(R"({"id_bits": 164})"), "id_bits must be a whole number from 4 to 160");
  EXPECT_EQ(error_of(R"({"id_bits": 16, "b": 3})"),
            "b must divide id_bits, and 3 does not divide 16");
  EXPECT_EQ(error_of(R"({"id_bits": 16, "b": 2, "leaf_set_size": 3})"),
            "leaf_set_size must be even: half on each side");
  EXPECT_EQ(error_of(scenario("[]", "[]")), "nodes must name at least one node");
  EXPECT_EQ(error_of(scenario(R"([{"name": "a", "x": 1}])", "[]")), "nodes[0].y is missing");
  EXPECT_EQ(error_of(scenario(R"([{"name": "a", "x": 1e200, "y": 0}])", "[]")),
            "nodes[0].x must lie between -1e+12 and 1e+12");
  EXPECT_EQ(
      error_of(scenario(R"([{"name": "a", "x": 1, "y": 1}, {"name": "a", "x": 2, "y": 2}])", "[]")),
      "nodes[1].name: \"a\" is used twice");
}

TEST(ParseScenario, names_the_step_that_is_wrong) {
  EXPECT_EQ(error_of_steps("{}"), "steps must be an array");
  EXPECT_EQ(error_of_steps("[5]"), "steps[0] must be an object");
  EXPECT_EQ(error_of_steps(R"([{"op": "jump"}])"),
            "steps[0].op: \"jump\" is none of create, route, join, publish, leave, fail, tree");
  EXPECT_EQ(error_of_steps(R"([{"op": "tree", "group": "g"}])"),
            "steps[0].group: no step before this one creates \"g\"");
  EXPECT_EQ(error_of_steps(R"([{"op": "fail", "node": "node-02"}])"),
            "steps[0].node: \"node-02\" is neither the name nor the id of a node");
  EXPECT_EQ(error_of_steps(R"([{"op": "route", "node": "node-00", "key": "12345"}])"),
            "steps[0].key: \"12345\" is not an id of 4 hexadecimal digits");
  EXPECT_EQ(error_of_steps(R"([{"op": "create", "group": "g", "creator": "nobody"}])"),
            "steps[0].creator: \"nobody\" is neither the name nor the id of a node");
}

TEST(ParseScenario, knows_what_happened_before_a_step) {
  EXPECT_EQ(error_of_steps(R"([{"op": "fail", "node": "node-00"},
                               {"op": "route", "node": "node-00", "key": "1"}])"),
            "steps[1].node: \"node-00\" has failed in a step before this one");
  EXPECT_EQ(error_of_steps(R"([{"op": "fail", "node": "node-00"},
                               {"op": "fail", "node": "node-01"}])"),
            "steps[1].node: the last node must not fail");
  EXPECT_EQ(error_of_steps(R"([{"op": "create", "group": "g", "creator": "node-00"},
                               {"op": "create", "group": "g", "creator": "node-01"}])"),
            "steps[1].group: \"g\" was created by \"node-00\" already");
}

}  // namespace
}  // namespace canopy::sim
