#!/usr/bin/env python3
"""README's program in a CMake project of its own, which has this one below it."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from programs import SOURCE  # noqa: E402

DEADLINE_S = 300

PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
add_subdirectory({SOURCE} canopy EXCLUDE_FROM_ALL)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE canopy::canopy)
"""


class Embedding(unittest.TestCase):
    def run_in(self, folder, *command):
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                                timeout=DEADLINE_S, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_readmes_program_compiles(self):
        readme = (SOURCE / "README.md").read_text(encoding="utf-8")
        program, = re.findall(r"```cpp\n(.*?)```", readme, re.DOTALL)
        with tempfile.TemporaryDirectory(prefix="canopy-embedding-") as folder:
            app = pathlib.Path(folder)
            (app / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
            (app / "main.cpp").write_text(program, encoding="utf-8")
            self.run_in(app, "cmake", "-G", "Ninja", "-B", "build")
            # The library itself is compiled often enough.
            self.run_in(app, "ninja", "-C", "build", "CMakeFiles/app.dir/main.cpp.o")


if __name__ == "__main__":
    unittest.main()
