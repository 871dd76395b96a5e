"""What the checks share: the tree's files, C++ text without comments, and how findings are told."""

import argparse
import pathlib
import re
import sys

# The layers of src/, in order: each may include only those before it. raft, cells, topic and
# placement are still to come.
LAYERS = ["base", "wire", "pastry", "scribe", "raft", "store", "cells", "queue", "topic",
          "placement", "net", "gateway", "node", "sim"]

# Layers that never touch a clock, a socket, a thread or a global random source.
SANS_IO = [layer for layer in LAYERS if layer not in ("store", "net", "gateway", "node")]

CPP_FOLDERS = ["include", "src", "tests", "tools"]
TEXT_FOLDERS = CPP_FOLDERS + ["proto", "scripts", ".ci"]


class Tree:
    """A source tree below `root`; files are given as paths relative to it, in a fixed order."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def files(self, folders, suffixes=None):
        found = []
        for folder in folders:
            found += [path for path in (self.root / folder).rglob("*") if path.is_file()]
        found = [path.relative_to(self.root) for path in found if "__pycache__" not in path.parts]
        return sorted(path for path in found if suffixes is None or path.suffix in suffixes)

    def cpp_files(self):
        return self.files(CPP_FOLDERS, [".hpp", ".cpp"])

    def top_level(self):
        return sorted(path.name for path in self.root.iterdir())

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")


_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)


def code_only(text):
    """The text with comments and the contents of literals blanked; lines keep their numbers."""

    def blank(match):
        token = match.group(0)
        # 1'000 is a digit separator, not a character.
        if token[0] == "'" and match.start() and text[match.start() - 1].isalnum():
            return token
        return re.sub(r"[^\n]", " ", token)

    return _NOT_CODE.sub(blank, text)


class Findings:
    """Violations, printed as file:line: message, as a compiler does."""

    def __init__(self):
        self.lines = []

    def add(self, path, line, message):
        self.lines.append(f"{path}:{line}: {message}")

    def finish(self, name, checked):
        for line in self.lines:
            print(line)
        if self.lines:
            print(f"{name}: {len(self.lines)} violation(s) in {checked} file(s)")
            return 1
        return 0


def parse_root(description, extend=None):
    """The arguments of a check; `extend` may add its own options to the parser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2],
                        help="the tree to check (this one by default)")
    if extend:
        extend(parser)
    args = parser.parse_args()
    if not pathlib.Path(args.root).is_dir():
        print(f"{parser.prog}: no folder {args.root}", file=sys.stderr)
        sys.exit(2)
    return args
