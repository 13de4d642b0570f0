"""``python -m certirag`` is the same as the ``certirag`` command."""

import sys

from certirag.cli.main import main

sys.exit(main())
