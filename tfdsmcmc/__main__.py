"""python -m tfdsmcmc"""

import sys

from tfdsmcmc.cli import main

sys.exit(main())
