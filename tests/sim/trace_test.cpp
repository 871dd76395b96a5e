#include "sim/trace.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

MonoTime time_of(std::int64_t us) { return MonoTime(Duration(us)); }

TEST(Trace, writes_a_line_per_event) {
  Trace trace(16);
  std::ostringstream text;
  trace.write_to(text);
  trace.add(time_of(1'500), *Id::from_hex("150d"), *Id::from_hex("1745"), EventType("GroupJoin"),
            87);
  EXPECT_EQ(text.str(), "1500 150d 1745 GroupJoin 87\n");
}

TEST(Trace, hashes_as_its_text_does) {
  for (const unsigned bits : {16U, 32U, 160U}) {
    Trace trace(bits);
    std::ostringstream text;
    trace.write_to(text);
    for (int i = 0; i < 100; ++i) {
      trace.add(time_of(i * 977), Id::hash_of("a" + std::to_string(i), bits),
                Id::hash_of("b" + std::to_string(i), bits), EventType(i % 2 == 0 ? "Probe" : "x"),
                static_cast<std::size_t>(i));
    }
    std::istringstream read(text.str());
    std::string error;
    EXPECT_EQ(Trace::hash_of_text(read, error), trace.hash()) << error;
  }
}

TEST(Trace, hash_depends_on_every_value) {
  const auto hash = [](std::int64_t time, const char* from, const char* to, const char* type,
                       std::size_t bytes) {
    Trace trace(16);
    trace.add(time_of(time), *Id::from_hex(from), *Id::from_hex(to), EventType(type), bytes);
    return trace.hash();
  };
  const auto base = hash(1, "0001", "0002", "Probe", 5);
  EXPECT_NE(base, hash(2, "0001", "0002", "Probe", 5));
  EXPECT_NE(base, hash(1, "0003", "0002", "Probe", 5));
  EXPECT_NE(base, hash(1, "0001", "0003", "Probe", 5));
  EXPECT_NE(base, hash(1, "0001", "0002", "Prove", 5));
  EXPECT_NE(base, hash(1, "0001", "0002", "Probe", 6));
}

TEST(Trace, says_which_line_is_not_one) {
  std::string error;
  for (const char* line : {"x", "1 0001 0002 Probe", "1 0001 0002 Probe 5 6", "1 zz 0002 Probe 5",
                           "-1 0001 0002 Probe 5", ""}) {
    std::istringstream text("1 0001 0002 Probe 5\n" + std::string(line) + "\n");
    EXPECT_FALSE(Trace::hash_of_text(text, error)) << line;
    EXPECT_EQ(error, "line 2 is not 'time_us from to type bytes'");
  }
}

}  // namespace
}  // namespace canopy::sim
