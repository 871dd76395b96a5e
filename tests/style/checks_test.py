"""The checks of scripts/ catch what they are for: each runs on a tree with a planted violation."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE_DIR = pathlib.Path(os.environ.get("CANOPY_SOURCE_DIR",
                                         pathlib.Path(__file__).resolve().parents[2]))

HEADER = "// What it is.\n#pragma once\n\n"


class CheckTest(unittest.TestCase):
    """A small tree in which a test plants files, and a check to run over it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.plant("tests/pastry/node_test.cpp", "int tested;\n")

    def plant(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def run_check(self, name, *args):
        result = subprocess.run([SOURCE_DIR / "scripts" / name, "--root", self.root, *args],
                                capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    def assert_clean(self, name, *args):
        status, output = self.run_check(name, *args)
        self.assertEqual(status, 0, output)

    def assert_caught(self, name, *expected):
        status, output = self.run_check(name)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)


class LayersTest(CheckTest):
    def test_accepts_an_include_of_a_layer_above(self):
        self.plant("src/scribe/tree.cpp", '#include "pastry/node.hpp"\n#include "base/id.hpp"\n')
        self.assert_clean("check-layers")

    def test_catches_an_include_of_a_layer_below(self):
        self.plant("src/pastry/node.cpp", '#include "base/id.hpp"\n#include "scribe/tree.hpp"\n')
        self.assert_caught("check-layers", "src/pastry/node.cpp:2:", "scribe/tree.hpp",
                           "pastry may include only base, wire, pastry")

    def test_catches_the_network_in_the_simulator(self):
        self.plant("src/sim/world.hpp", HEADER + '#include "net/link.hpp"\n')
        self.assert_caught("check-layers", "src/sim/world.hpp:4:", "net/link.hpp")

    def test_catches_a_test_that_reaches_below_its_layer(self):
        self.plant("tests/pastry/node_test.cpp", '#include "node/node.hpp"\n')
        self.assert_caught("check-layers", "tests/pastry/node_test.cpp:1:")

    def test_catches_protobuf_outside_wire(self):
        self.plant("src/wire/codec.cpp", '#include "overlay.pb.h"\n')
        self.assert_clean("check-layers")
        self.plant("src/net/link.cpp", '#include "overlay.pb.h"\n')
        self.assert_caught("check-layers", "src/net/link.cpp:1:", "Protobuf")

    def test_catches_an_internal_include_in_a_public_header(self):
        self.plant("include/canopy/node.hpp", HEADER + '#include "base/id.hpp"\n')
        self.assert_caught("check-layers", "include/canopy/node.hpp:4:")

    def test_catches_a_public_header_below_the_node(self):
        self.plant("src/node/node.cpp", "#include <canopy/node.hpp>\n")
        self.plant("src/pastry/node.cpp", "#include <canopy/error.hpp>\n")
        self.assert_clean("check-layers")
        self.plant("src/sim/world.cpp", "#include <canopy/node.hpp>\n")
        self.assert_caught("check-layers", "src/sim/world.cpp:1:", "below the public interface")

    def test_catches_a_folder_that_is_no_layer(self):
        self.plant("src/misc/things.cpp", "int things;\n")
        self.assert_caught("check-layers", "src/misc is no layer")

    def test_catches_a_path_that_does_not_start_at_src(self):
        self.plant("src/pastry/node.cpp", '#include "leaf_set.hpp"\n')
        self.assert_caught("check-layers", "pastry/leaf_set.hpp")


class FormatTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.plant(".clang-format", (SOURCE_DIR / ".clang-format").read_text(encoding="utf-8"))

    def test_catches_unformatted_code_and_fixes_it(self):
        self.assert_clean("check-format")
        self.plant("src/pastry/node.cpp", "int   f( ){return 1;}\n")
        self.assert_caught("check-format", "src/pastry/node.cpp:1:")
        self.assert_clean("check-format", "--fix")
        self.assert_clean("check-format")


class HeadersTest(CheckTest):
    def test_catches_a_header_that_needs_another_include(self):
        self.plant("src/base/whole.hpp", HEADER + "#include <string>\nstd::string whole();\n")
        self.assert_clean("check-headers")
        self.plant("src/base/torn.hpp", HEADER + "std::string torn();\n")
        self.assert_caught("check-headers", "src/base/torn.hpp:1:", "1 of 2")


class StyleTest(CheckTest):
    def assert_catches_line(self, line, message, path="src/pastry/node.cpp"):
        with self.subTest(line=line):
            self.plant(path, f"int before;\n{line}\n")
            self.assert_caught("check-style", f"{path}:2: ", message)
            self.plant(path, "int before;\n")

    def assert_accepts_line(self, line, path="src/pastry/node.cpp"):
        with self.subTest(line=line):
            self.plant(path, f"int before;\n{line}\n")
            self.assert_clean("check-style")

    def test_catches_bad_text(self):
        self.assert_catches_line("\tint tab;", "tab")
        self.assert_catches_line("int space; ", "space at the end")
        self.assert_catches_line("// " + "x" * 98, "101 columns")
        self.assert_catches_line("// TO" "DO: later", "unfinished")

    def test_catches_a_missing_newline_at_the_end(self):
        self.plant("src/pastry/node.cpp", "int x;")
        self.assert_caught("check-style", "no newline")

    def test_catches_a_file_that_is_too_long(self):
        self.plant("src/pastry/node.cpp", "int x;\n" * 700)
        self.assert_clean("check-style")
        self.plant("src/pastry/node.cpp", "int x;\n" * 701)
        self.assert_caught("check-style", "src/pastry/node.cpp:701:", "701 lines")

    def test_catches_a_header_without_comment_or_guard(self):
        self.plant("src/pastry/node.hpp", "#pragma once\nint x;\n")
        self.assert_caught("check-style", "src/pastry/node.hpp:1: a header opens with a comment")
        self.plant("src/pastry/node.hpp", "// What it is.\nint x;\n")
        self.assert_caught("check-style", "no #pragma once")

    def test_catches_what_is_forbidden_everywhere(self):
        self.assert_catches_line("std::this_thread::sleep_for(1s);", "sleeps",
                                 "tests/pastry/node_test.cpp")
        self.assert_catches_line("if (co_await f()) g();", "co_await", "tools/canopy/main.cpp")
        self.assert_catches_line("using namespace std;", "using namespace std")
        self.assert_catches_line("#include <iostream>", "<iostream>")
        self.assert_catches_line("#include <format>", "g++ 12")
        self.assert_catches_line("assert(x);", "CANOPY_ASSERT")
        self.assert_catches_line("#if 0", "delete it")
        self.assert_catches_line('spdlog::warn("x");', "net/log.hpp", "src/node/node.cpp")

    def test_catches_the_world_in_sans_io_layers(self):
        self.assert_catches_line("auto t = std::chrono::steady_clock::now();", "reads a clock")
        self.assert_catches_line("clock_gettime(id, &t);", "reads a clock")
        self.assert_catches_line("int r = rand();", "random source")
        self.assert_catches_line("std::random_device device;", "random source")
        self.assert_catches_line("std::mt19937_64 engine;", "random source")
        self.assert_catches_line("std::uniform_int_distribution<int> d;", "differ between")
        self.assert_catches_line("std::thread t;", "threads")
        self.assert_catches_line("#include <boost/asio/post.hpp>", "operating system")
        self.assert_catches_line("std::map<Peer*, int> byPeer;", "pointer")

    def test_catches_iteration_over_unordered_containers(self):
        member = "std::unordered_map<Id, std::vector<int>> peers_;"
        self.plant("src/pastry/node.hpp", HEADER + f"struct Node {{\n  {member}\n}};\n")
        self.assert_catches_line("for (const auto& [id, peer] : peers_) f(peer);", "unordered")
        self.assert_catches_line("auto first = peers_.begin();", "unordered")
        self.assert_accepts_line("auto found = peers_.find(id);")
        self.assert_accepts_line("for (const auto& peer : sorted(peers_)) f(peer);")

    def test_accepts_forbidden_words_in_comments_and_strings(self):
        self.assert_accepts_line("// std::thread and rand() are not for this layer")
        self.assert_accepts_line('const char* text = "std::thread sleep_for(1)";')
        self.assert_accepts_line("auto n = 1'000; auto& r = env.random();")

    def test_accepts_clocks_and_threads_where_they_belong(self):
        self.plant("tests/net/link_test.cpp", "int tested;\n")
        self.assert_accepts_line("std::thread t(std::chrono::steady_clock::now());",
                                 "src/net/link.cpp")

    def test_catches_strangers_in_the_tree(self):
        self.plant("notes.txt", "x\n")
        self.assert_caught("check-style", "notes.txt:1: does not belong")

    def test_catches_tests_that_do_not_mirror_the_layers(self):
        self.plant("tests/misc/x_test.cpp", "int x;\n")
        self.assert_caught("check-style", "tests/misc:1:")

    def test_catches_a_layer_without_test(self):
        self.plant("src/scribe/tree.cpp", "int x;\n")
        self.assert_caught("check-style", "tests/scribe/*_test.cpp is missing")


if __name__ == "__main__":
    unittest.main()
