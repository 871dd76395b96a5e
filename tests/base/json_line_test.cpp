#include "base/json_line.hpp"

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(JsonLine, keeps_the_order_of_its_fields) {
  JsonLine inner;
  inner.add("b", std::vector<std::string>{"x", "y"}).add("a", std::vector<std::string>{});
  JsonLine line;
  line.add("op", "join").add("n", std::uint64_t{3}).add("yes", true).add("in", inner);
  EXPECT_EQ(line.text(),
            R"({"op": "join", "n": 3, "yes": true, "in": {"b": ["x", "y"], "a": []}})");
}

TEST(JsonLine, writes_decimals_without_trailing_zeros) {
  JsonLine line;
  line.add("a", 3431.97, 3).add("b", 4015.3456, 3).add("c", 2.0, 3).add("d", 0.00001, 3);
  line.add("e", std::vector<double>{0.5, 0.25}, 4);
  EXPECT_EQ(line.text(), R"({"a": 3431.97, "b": 4015.346, "c": 2.0, "d": 0.0, "e": [0.5, 0.25]})");
}

TEST(JsonLine, escapes_text) {
  JsonLine line;
  line.add("a\"b", "line\nbreak");
  EXPECT_EQ(line.text(), R"({"a\"b": "line\nbreak"})");
}

}  // namespace
}  // namespace canopy
