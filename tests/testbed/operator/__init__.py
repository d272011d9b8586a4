# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
A stand-in for operator-sdk's program ansible-operator if that is not available; and the start of either.

It implements what our tests need of that program (1.42.3): which changes start a run, the arguments of a run, the
consequences of its result, the responses of its proxy to reads. It rejects all other watches, flags and requests.
"""

from __future__ import annotations
