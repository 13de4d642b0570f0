"""``python -m certirag`` is the same as the ``certirag`` command."""

import sys

from certirag.cli import main

sys.exit(main())
