"""Where the sources and the programs are: as ctest says, or those of the build `dev`."""

import os
import pathlib

SOURCE = pathlib.Path(os.environ.get("CANOPY_SOURCE_DIR", pathlib.Path(__file__).parents[3]))
BIN = pathlib.Path(os.environ.setdefault("CANOPY_BIN_DIR", str(SOURCE / "build/dev/bin")))
