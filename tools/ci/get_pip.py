# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replacement for the script that ansible-test downloads: install pip from Python's own bundle, then the arguments."""

from __future__ import annotations

import ensurepip
import os
import subprocess
import sys

# Options of the script that this one replaces; pip does not know them.
FOREIGN = ("--no-setuptools", "--no-wheel")

ensurepip.bootstrap()
os.environ.pop("PIP_CONFIG_FILE", None)  # ensurepip points it at nothing, and with it goes the package index
desired = [argument for argument in sys.argv[1:] if argument not in FOREIGN]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *desired]))
