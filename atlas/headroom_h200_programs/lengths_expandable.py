# SPDX-License-Identifier: Apache-2.0
"""The steps of lengths.py in segments that grow."""
import os

os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"
import lengths  # noqa: E402, F401
