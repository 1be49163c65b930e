"""How the pages of this folder become a site: ``make docs``."""

from __future__ import annotations

import holodeck

project = "HoloDeck"
author = "the HoloDeck authors"
release = holodeck.__version__
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "captures"]
html_theme = "furo"
html_title = f"HoloDeck {release}"
html_copy_source = False
html_show_sphinx = False

# Headings can be linked to by the anchors that GitHub gives them.
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
