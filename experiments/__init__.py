"""What makes the papers' tables and the studies of the documentation: `python -m experiments.ROOM --help`.

Rooms import the package and `experiments.common`, not each other; the package imports none of them.
"""

import os
import sys

from experiments.common.quiet import quiet_start

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
if "tensorflow" not in sys.modules:
    with quiet_start():
        import tensorflow as tf

        tf.config.list_logical_devices()  # starts them, which is noted too
