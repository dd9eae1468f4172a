"""Configuration of the documentation site: `make docs` builds it, without network."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from spclust.version import __version__  # noqa: E402

project = "spclust"
author = "The spclust developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "extensions.mathml",
    "extensions.generated_pages",
    "extensions.links",
]
templates_path = ["_templates"]
exclude_patterns = ["_templates", "gallery", "**sg_execution_times.rst"]
smartquotes = False  # two hyphens begin an option

# Markdown
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # settings of the gallery cannot be cached

# Reference
autosummary_generate = True
python_maximum_signature_line_length = 80
autodoc_typehints = "none"  # numpydoc's sections name the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Gallery: every script runs in the build, several at a time.
sphinx_gallery_conf = {
    "examples_dirs": str(HERE / "gallery"),
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"__init__\.py|conftest\.py|test_.*\.py",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "matplotlib_animations": True,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1,
    "download_all_examples": False,
    "abort_on_example_error": False,
    "only_warn_on_example_error": True,  # with -W: all scripts run, and the build fails
    "parallel": True,
    "plot_gallery": "True",
    "image_srcset": ["2x"],
}

# Pages: everything that a page loads is part of the site.
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "spclust"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "spclust"},
    "show_prev_next": False,
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "navigation_depth": 2,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "icon_links": [
        {
            "name": "Source",
            "url": "https://github.com/spclust/spclust",
            "icon": "fa-brands fa-github",
        }
    ],
}
html_sidebars = {"index": []}
copybutton_exclude = ".linenos, .gp, .go"
