# SPDX-License-Identifier: Apache-2.0
class NotCovered(Exception):
    """Something of a case has no counterpart here."""
