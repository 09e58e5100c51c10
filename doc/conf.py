# SPDX-License-Identifier: GPL-2.0-only
#
# sphinx-build doc out

import pathlib

project = "proteus"
author = "The proteus authors"
project_copyright = "2026, " + author
release = (pathlib.Path(__file__).parent.parent / "VERSION").read_text().strip()
version = release

master_doc = "proteus"
exclude_patterns = ["out"]
highlight_language = "cpp"
html_theme = "alabaster"
html_show_sourcelink = False
