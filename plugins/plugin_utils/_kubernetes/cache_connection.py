# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to ansible-operator's proxy, in each run of the operator; the kubeconfig's loader takes longer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import without_credentials
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.plain_http import PlainHttp

# PyYAML without libyaml has no other loader.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def connect_cache(kubeconfig: str) -> KubernetesApi:
    """Return the connection to the server in the kubeconfig that ansible-operator writes; KubernetesError names it."""
    try:
        document = yaml.load(Path(kubeconfig).read_text(encoding="utf-8"), Loader=_LOADER)
        server = document["clusters"][0]["cluster"]["server"]
        address, user = without_credentials(server)
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError) as error:
        raise KubernetesError(f"Cannot connect to ansible-operator's cache: {kubeconfig}: {error!r}.") from error
    return KubernetesApi(address, PlainHttp(address), partial(dict, user))
