# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for the program ansible-operator of operator-sdk, where that program is not to be had.

It keeps the contract between that program (1.42.3), the Kubernetes API and ansible-runner, and nothing beyond: which
changes start a run, what a run is given, what becomes of its result, and what the proxy that runs talk to does.
"""

from __future__ import annotations
