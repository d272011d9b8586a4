# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Kubernetes control plane in memory, single-threaded: an API server, and the controllers that react to our writes.

`server.py` answers the requests of the real `KubernetesApi`. Each controller has a file. `world.py` runs them, in an
order and at moments that a test chooses. What is simulated is compared with real controllers by
`tests/system/cluster/test_simulator.py`.
"""
