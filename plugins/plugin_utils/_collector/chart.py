# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The chart of a Collector, as Helm addresses it: a directory of the controller, or a chart in a repository."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.druidops.druid.plugins.module_utils._values.parse import InvalidYaml, load_yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import Chart
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import ChartAddress, Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.validate import is_safe_path

_OCI = "oci://"


class UnreadableChart(ValueError):
    """The default chart cannot be used."""


def chart_of(collector: Collector, default: str) -> Chart:
    """Return the chart of a Collector; `default` is the directory of the default one, which may be UnreadableChart."""
    return remote_chart(collector.chart) if collector.chart else local_chart(default)


def local_chart(path: str) -> Chart:
    """Return the chart in a directory; UnreadableChart if there is none."""
    if not is_safe_path(path):
        raise UnreadableChart(f"The path {path!r} of the chart has characters other than letters, digits and /._+-.")
    try:
        document = load_yaml((Path(path) / "Chart.yaml").read_text(encoding="utf-8"))
        return Chart(str(document["name"]), str(document["version"]), path)
    except (OSError, InvalidYaml, UnicodeDecodeError, LookupError, TypeError) as error:
        raise UnreadableChart(f"{path} is not a readable chart of Helm ({type(error).__name__}).") from None


def remote_chart(address: ChartAddress) -> Chart:
    """Return the chart in a repository, whose address has been validated and allowed."""
    if address.repository.startswith(_OCI):
        reference = f"{address.repository}/{address.name}"
        return Chart(address.name, address.version, reference, requested_version=address.version)
    return Chart(address.name, address.version, address.name, address.repository, address.version)
