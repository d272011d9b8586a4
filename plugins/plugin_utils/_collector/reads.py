# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision about a Collector can read."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import compare_objects, rejected_object
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Rendered
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import (
    is_deleted_namespace,
    kinds_of,
    latest_problem,
    namespace_state,
    observe_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import HelmError, Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import Kinds
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import NamespaceState, Objects, Target
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


class CollectorReads(Reads):
    """What a decision reads, in Kubernetes and of a chart. KubernetesError if that fails."""

    def __init__(self, api: KubernetesApi, collector: Collector, options: Options) -> None:
        super().__init__(api, collector.namespace)
        self._collector = collector
        self._options = options

    @property
    def _objects(self) -> KubernetesApi:
        return self._options.connection_of(self._api, self._collector.tenant)

    @property
    def _named(self) -> tuple[str, str]:
        return self._collector.release, self._collector.tenant

    def release(self) -> tuple[Release | None, str]:
        """Return the release, and why it cannot be read."""
        return observe_release(self, self._collector.tenant, self._collector.release)

    def is_namespace_deleted(self) -> bool:
        """Return whether the namespace is terminating or does not exist; false if neither can be seen."""
        return is_deleted_namespace(self, self._collector.tenant)

    def namespace(self) -> NamespaceState:
        """Return whether objects can be created in the namespace of the release."""
        return namespace_state(self, self._collector.tenant)

    def kinds(self, manifests: Sequence[Manifest]) -> Kinds:
        """Return the kinds of these objects, without those that the server does not have."""
        return self.ask("kinds", manifests, lambda: kinds_of(self._api, manifests))

    def latest_problem(self) -> str:
        """Return the latest warning about a pod of the release; empty if there is none."""
        return latest_problem(self, self._collector)

    def compared(self, manifest: Sequence[Manifest]) -> Objects:
        """Return how the live objects differ from the manifest of the release, by dry runs."""
        return self.ask("compared", manifest, lambda: compare_objects(self._objects, manifest, *self._named))

    def rejected(self, rendered: Sequence[Manifest]) -> str:
        """Return why the API server rejects an object of a chart, by dry runs; empty if it accepts all of them."""
        return self.ask("rejected", rendered, lambda: rejected_object(self._objects, rendered, *self._named))

    def rendered(self, target: Target) -> Rendered | Finding:
        """Return the objects of the chart, or why Helm cannot render it. It is not connected to the API server."""
        try:
            return self.ask("rendered", target, lambda: self._options.helm.rendered(target))
        except HelmError as error:
            return Finding(reasons.HELM_FAILED, str(error))
