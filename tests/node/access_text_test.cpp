#include "node/access_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace canopy::node {
namespace {

TEST(AccessText, EntriesAreTakenAsPeopleWriteThem) {
  Grant grant;
  EXPECT_EQ(to_text(grant), "anyone");
  EXPECT_EQ(add_to(grant, "peer:alpha"), "");
  EXPECT_EQ(grant.peers, std::vector{Key::of("alpha")});
  EXPECT_FALSE(grant.everybody);
  EXPECT_EQ(add_to(grant, "id:" + Key::of("alpha").to_hex()), "");
  EXPECT_EQ(grant.peers.size(), 1u) << "the same peer twice";
  const std::string token = make_token();
  Grant tokens{false, {}, {token_id(token)}};
  EXPECT_EQ(add_to(grant, to_text(tokens)), "");
  EXPECT_EQ(grant.tokens, tokens.tokens);
  EXPECT_EQ(remove_from(grant, "peer:alpha"), "");
  EXPECT_EQ(to_text(grant), to_text(tokens));
  EXPECT_EQ(add_to(grant, "nobody"), "");
  EXPECT_EQ(to_text(grant), "nobody");
}

TEST(AccessText, WhatNamesNobodyIsSaid) {
  for (const char* text : {"", "alpha", "peer:", "id:12", "key:00", "token:", "peer:a\nb"}) {
    Grant grant;
    EXPECT_NE(add_to(grant, text), "") << text;
    EXPECT_EQ(grant, Grant{}) << text;
  }
  Grant anyone;
  EXPECT_NE(remove_from(anyone, "peer:alpha"), "");
  Grant listed{false, {Key::of("alpha")}, {}};
  EXPECT_NE(remove_from(listed, "peer:beta"), "");
}

TEST(AccessText, TokensComeFromFilesAndVariables) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("canopy-token-" + make_token().substr(0, 8));
  const std::string token = make_token();
  EXPECT_EQ(token.size(), 43u);
  EXPECT_NE(token, make_token());
  std::ofstream(path) << token << "\n";
  EXPECT_EQ(read_token(path).token, token);
  std::ofstream(path) << "short\n";
  EXPECT_NE(read_token(path).problem, "");
  std::filesystem::remove(path);
  EXPECT_NE(read_token(path).problem, "");
  ::setenv("CANOPY_TEST_TOKEN", token.c_str(), 1);
  EXPECT_EQ(token_of_variable("CANOPY_TEST_TOKEN").token, token);
  Grant grant;
  EXPECT_EQ(add_to(grant, "token:@CANOPY_TEST_TOKEN"), "");
  EXPECT_EQ(grant.tokens, std::vector{token_id(token)});
  ::unsetenv("CANOPY_TEST_TOKEN");
  EXPECT_NE(token_of_variable("CANOPY_TEST_TOKEN").problem, "");
}

// Editors of all systems.
TEST(AccessText, LineEndsAreNoPartOfATokenAndASecondLineIsRefused) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("canopy-token-" + make_token().substr(0, 8));
  const std::string token = make_token();
  for (const std::string& text :
       {token, token + "\r\n", token + "\r", token + " \t\n\n\r\n", "\n\r\n  " + token + "\n"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(read_token(path).token, token) << text;
    ::setenv("CANOPY_TEST_TOKEN", text.c_str(), 1);
    EXPECT_EQ(token_of_variable("CANOPY_TEST_TOKEN").token, token) << text;
  }
  for (const char* end : {"\n", "\r\n", "\r", "\n\n"}) {
    std::ofstream(path) << token << end << make_token() << end;
    const TokenText read = read_token(path);
    EXPECT_EQ(read.token, "");
    EXPECT_NE(read.problem.find("more than one line"), std::string::npos) << read.problem;
  }
  ::unsetenv("CANOPY_TEST_TOKEN");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace canopy::node
