# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for operator-sdk's program ansible-operator, where that program is not to be had; and what starts either.

It does what our tests need of that program (1.42.3): which changes start a run, what a run is given, what follows from
its result, what its proxy answers to reads. It rejects a watches.yaml, flags and requests that need anything else.
"""

from __future__ import annotations
