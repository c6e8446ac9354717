"""`python -m augury.cli`, for `ray job submit` where the console script is not installed."""

import sys

from augury.cli import main

sys.exit(main())
