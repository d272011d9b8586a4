# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CRD of ServiceMonitor, from the Go module of the Prometheus operator."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

_DIRECTORY = Path(__file__).parent / "monitoring_crds"
_MODULE = "github.com/prometheus-operator/prometheus-operator"
_FILE = "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"


def service_monitor_crd() -> dict[str, Any]:
    """The CRD, of the version in go.mod."""
    command = ["go", "mod", "download", "-json", _MODULE]
    done = subprocess.run(command, cwd=_DIRECTORY, check=True, capture_output=True, text=True)
    found: dict[str, Any] = yaml.safe_load(Path(json.loads(done.stdout)["Dir"], _FILE).read_text(encoding="utf-8"))
    return found
