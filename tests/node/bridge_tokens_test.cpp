#include "node/bridge_tokens.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <canopy/access.hpp>

namespace canopy::node {
namespace {

class BridgeTokensTest : public testing::Test {
 protected:
  BridgeTokensTest() {
    std::string name = (std::filesystem::temp_directory_path() / "canopy-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~BridgeTokensTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& token) {
    const auto path = folder_ / name;
    std::ofstream(path) << token << "\n";
    return path.string();
  }
  static std::string refusal(const std::vector<BridgeTokenFile>& files) {
    try {
      read_bridge_tokens(files, "canopy");
    } catch (const StartError& error) {
      return error.what();
    }
    return "";
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(BridgeTokensTest, AreOfAGroupOrOfAllOthers) {
  const std::string common = make_token();
  const std::string own = make_token();
  const BridgeTokens tokens = read_bridge_tokens({{{}, file("common", common)},
                                                  {GroupName{"prices", ""}, file("own", own)},
                                                  {GroupName{"prices", "ann"}, file("ann", own)}},
                                                 "canopy");
  EXPECT_EQ(tokens.of({"prices", "canopy"}), own);
  EXPECT_EQ(tokens.of({"prices", "ann"}), own);
  EXPECT_EQ(tokens.of({"prices", "bob"}), common);
  EXPECT_EQ(tokens.of({"news", "canopy"}), common);
  EXPECT_EQ(read_bridge_tokens({}, "canopy").of({"news", "canopy"}), "");
}

TEST_F(BridgeTokensTest, ThatCannotBeUsedAreTold) {
  const std::string good = file("good", make_token());
  EXPECT_EQ(refusal({{{}, good}, {GroupName{"prices", ""}, good}}), "");
  EXPECT_NE(refusal({{{}, "/nowhere"}}).find("/nowhere"), std::string::npos);
  EXPECT_NE(refusal({{{}, good}, {{}, good}}).find("for all groups"), std::string::npos);
  EXPECT_NE(refusal({{GroupName{"prices", ""}, good}, {GroupName{"prices", "canopy"}, good}})
                .find("the group prices"),
            std::string::npos);
}

TEST(BridgeTokenFile, IsAFileOrOneOfAGroup) {
  const auto parsed = [](const std::string& text) {
    const auto one = parse_bridge_token_file(text);
    if (!one) return std::string("nothing");
    return (one->group ? one->group->to_string() : "all") + " " + one->file;
  };
  EXPECT_EQ(parsed("/etc/token"), "all /etc/token");
  EXPECT_EQ(parsed("prices=/etc/token"), "prices /etc/token");
  EXPECT_EQ(parsed("a=b@ann=token"), "a=b@ann token");
  for (const char* wrong : {"", "=token", "prices=", "prices@=token", "@ann=token"}) {
    EXPECT_EQ(parsed(wrong), "nothing") << wrong;
  }
}

}  // namespace
}  // namespace canopy::node
