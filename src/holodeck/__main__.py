"""``python -m holodeck`` is the command line."""

import sys

from holodeck.cli import main

sys.exit(main())
