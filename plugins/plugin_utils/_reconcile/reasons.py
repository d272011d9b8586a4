# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons of conditions and of events. They are an API: users and alerts match on them.

The documents explain each one: docs/troubleshooting.md (Druid), docs/ingestion.md (DruidIngestion) and
docs/monitoring.md (events).
"""

from __future__ import annotations

# Conditions of both kinds.
UP_TO_DATE = "UpToDate"
AS_EXPECTED = "AsExpected"
CHANGES_PENDING = "ChangesPending"
PAUSED = "Paused"
IGNORED = "Ignored"
DELETING = "Deleting"
INVALID_SPEC = "InvalidSpec"
REF_NOT_PERMITTED = "RefNotPermitted"
NAME_CONFLICT = "NameConflict"
APPLY_FAILED = "ApplyFailed"
OBSERVE_FAILED = "ObserveFailed"
ROUTER_NOT_FOUND = "RouterNotFound"
SECRET_NOT_FOUND = "SecretNotFound"
DRUID_UNREACHABLE = "DruidUnreachable"
UNAUTHORIZED = "Unauthorized"
REJECTED_BY_DRUID = "RejectedByDruid"

# Conditions of a Druid.
ALL_PODS_READY = "AllPodsReady"
PODS_NOT_READY = "PodsNotReady"
NO_PODS = "NoPods"
STOPPED = "Stopped"
ROLLING_OUT = "RollingOut"
ROLLOUT_STALLED = "RolloutStalled"
NOT_PAUSED = "NotPaused"
WAITING_FOR_DRUID = "WaitingForDruid"
PODS_FAILING = "PodsFailing"
PODS_NOT_CREATED = "PodsNotCreated"
PODS_NOT_SCHEDULED = "PodsNotScheduled"
ROLLOUT_PAUSED = "RolloutPaused"
EVICTION_REFUSED = "EvictionRefused"
REFERENCE_NOT_FOUND = "ReferenceNotFound"
REJECTED_BY_API_SERVER = "RejectedByAPIServer"
CONFLICTING_OPERATOR = "ConflictingOperator"
PODS_WOULD_BE_ORPHANED = "PodsWouldBeOrphaned"
REMOVAL_DEFERRED = "RemovalDeferred"
ALL_GROUPS_REMOVED = "AllGroupsRemoved"
SPEC_WARNING = "SpecWarning"
ROLLOUT_WARNING = "RolloutWarning"
EXPANDING_VOLUMES = "ExpandingVolumes"
VOLUMES_NOT_EXPANDABLE = "VolumesNotExpandable"
DRAINING = "Draining"
DRAIN_BLOCKED = "DrainBlocked"
DECOMMISSIONING_HISTORICALS = "DecommissioningHistoricals"
TIER_TOO_SMALL = "TierTooSmall"
DECOMMISSION_TIMED_OUT = "DecommissionTimedOut"

# Conditions of a DruidIngestion.
RUNNING = "Running"
SUCCEEDED = "Succeeded"
SUSPENDED = "Suspended"
NOT_SUSPENDED = "NotSuspended"
STARTING = "Starting"
CLUSTER_NOT_FOUND = "ClusterNotFound"
DUPLICATE_SUPERVISOR = "DuplicateSupervisor"
DUPLICATE_DATASOURCE_CONFIG = "DuplicateDatasourceConfig"
SUPERVISOR_LEFT = "SupervisorLeft"
DRIFT_DETECTED = "DriftDetected"
SUPERVISOR_UNHEALTHY = "SupervisorUnhealthy"
TASK_FAILED = "TaskFailed"
TASK_STATUS_UNKNOWN = "TaskStatusUnknown"
TASK_ID_CONFLICT = "TaskIdConflict"
RECORD_LOST = "RecordLost"

# Conditions of a DruidLookup, DruidRole or DruidUser, besides those of a DruidIngestion.
APPLIED = "Applied"
LOADING = "Loading"
DUPLICATE_OBJECT = "DuplicateObject"
ROLE_NOT_FOUND = "RoleNotFound"

# Conditions of a Collector.
RELEASE_DEPLOYED = "ReleaseDeployed"
DEPLOYING = "Deploying"
RELEASE_PENDING = "ReleasePending"
RELEASE_NOT_OWNED = "ReleaseNotOwned"
DUPLICATE_COLLECTOR = "DuplicateCollector"
CHART_NOT_ALLOWED = "ChartNotAllowed"
CLUSTER_SCOPED_OBJECTS = "ClusterScopedObjects"
HELM_FAILED = "HelmFailed"
TENANT_NOT_FOUND = "TenantNotFound"
TENANT_TERMINATING = "TenantTerminating"

_SHARED = frozenset(
    {
        UP_TO_DATE,
        AS_EXPECTED,
        CHANGES_PENDING,
        PAUSED,
        IGNORED,
        DELETING,
        INVALID_SPEC,
        REF_NOT_PERMITTED,
        NAME_CONFLICT,
        APPLY_FAILED,
        OBSERVE_FAILED,
        ROUTER_NOT_FOUND,
        SECRET_NOT_FOUND,
        DRUID_UNREACHABLE,
        UNAUTHORIZED,
        REJECTED_BY_DRUID,
    }
)
OF_DRUID = _SHARED | {
    ALL_PODS_READY,
    PODS_NOT_READY,
    NO_PODS,
    STOPPED,
    ROLLING_OUT,
    ROLLOUT_STALLED,
    NOT_PAUSED,
    WAITING_FOR_DRUID,
    PODS_FAILING,
    PODS_NOT_CREATED,
    PODS_NOT_SCHEDULED,
    ROLLOUT_PAUSED,
    EVICTION_REFUSED,
    REFERENCE_NOT_FOUND,
    REJECTED_BY_API_SERVER,
    CONFLICTING_OPERATOR,
    PODS_WOULD_BE_ORPHANED,
    REMOVAL_DEFERRED,
    ALL_GROUPS_REMOVED,
    SPEC_WARNING,
    ROLLOUT_WARNING,
    EXPANDING_VOLUMES,
    VOLUMES_NOT_EXPANDABLE,
    DRAINING,
    DRAIN_BLOCKED,
    DECOMMISSIONING_HISTORICALS,
    TIER_TOO_SMALL,
    DECOMMISSION_TIMED_OUT,
}
OF_INGESTION = _SHARED | {
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    NOT_SUSPENDED,
    STARTING,
    CLUSTER_NOT_FOUND,
    DUPLICATE_SUPERVISOR,
    DUPLICATE_DATASOURCE_CONFIG,
    SUPERVISOR_LEFT,
    DRIFT_DETECTED,
    SUPERVISOR_UNHEALTHY,
    TASK_FAILED,
    TASK_STATUS_UNKNOWN,
    TASK_ID_CONFLICT,
    RECORD_LOST,
}

# Its others are those of a DruidIngestion, too.
OF_OBJECT = frozenset({APPLIED, LOADING, DUPLICATE_OBJECT, ROLE_NOT_FOUND})
OF_COLLECTOR = frozenset(
    {
        UP_TO_DATE,
        AS_EXPECTED,
        CHANGES_PENDING,
        PAUSED,
        IGNORED,
        DELETING,
        INVALID_SPEC,
        REF_NOT_PERMITTED,
        REFERENCE_NOT_FOUND,
        CLUSTER_NOT_FOUND,
        PODS_NOT_READY,
        APPLY_FAILED,
        OBSERVE_FAILED,
        RELEASE_DEPLOYED,
        DEPLOYING,
        RELEASE_PENDING,
        RELEASE_NOT_OWNED,
        DUPLICATE_COLLECTOR,
        CHART_NOT_ALLOWED,
        CLUSTER_SCOPED_OBJECTS,
        HELM_FAILED,
        TENANT_NOT_FOUND,
        TENANT_TERMINATING,
    }
)

# Problems that the next reconcile may solve without a change by the user: a wait goes on.
TRANSIENT_OF_DRUID = frozenset({APPLY_FAILED, REMOVAL_DEFERRED, DRUID_UNREACHABLE})
TRANSIENT_OF_INGESTION = frozenset(
    {CLUSTER_NOT_FOUND, ROUTER_NOT_FOUND, DRUID_UNREACHABLE, SUPERVISOR_UNHEALTHY, APPLY_FAILED}
)
TRANSIENT_OF_OBJECT = frozenset({CLUSTER_NOT_FOUND, ROUTER_NOT_FOUND, DRUID_UNREACHABLE, ROLE_NOT_FOUND, APPLY_FAILED})
TRANSIENT_OF_COLLECTOR = frozenset(
    {CLUSTER_NOT_FOUND, REFERENCE_NOT_FOUND, RELEASE_PENDING, TENANT_NOT_FOUND, APPLY_FAILED}
)

# Events. The event of a problem has the reason of its condition. The names DruidOperator... are the Go operator's.
CREATE_SUCCEEDED = "DruidOperatorCreateSuccess"
CREATE_FAILED = "DruidOperatorCreateFail"
UPDATE_SUCCEEDED = "DruidOperatorUpdateSuccess"
UPDATE_FAILED = "DruidOperatorUpdateFail"
DELETE_SUCCEEDED = "DruidOperatorDeleteSuccess"
DELETE_FAILED = "DruidOperatorDeleteFail"
PVCS_RETAINED = "PVCsRetained"
ROLLOUT_STARTED = "RolloutStarted"
ROLLOUT_COMPLETED = "RolloutCompleted"
VOLUME_EXPANDING = "VolumeExpanding"
VOLUME_EXPANDED = "VolumeExpanded"
PVC_UPDATED = "PVCUpdated"
WORKER_DISABLED = "WorkerDisabled"
WORKER_ENABLED = "WorkerEnabled"
TASK_GROUPS_HANDED_OFF = "TaskGroupsHandedOff"
ORPHANED_PVC_MARKED = "OrphanedPVCMarked"
ORPHANED_PVC_UNMARKED = "OrphanedPVCUnmarked"
ORPHANED_PVC_DELETED = "OrphanedPVCDeleted"
HISTORICAL_DECOMMISSIONING = "HistoricalDecommissioning"
HISTORICAL_DECOMMISSIONED = "HistoricalDecommissioned"
HISTORICAL_NOT_DECOMMISSIONED = "HistoricalNotDecommissioned"
HISTORICAL_RECOMMISSIONED = "HistoricalRecommissioned"
SUPERVISOR_UPDATED = "SupervisorUpdated"
DATASOURCE_CONFIG_UPDATED = "DatasourceConfigUpdated"
OFFSETS_RESET = "OffsetsReset"
TASK_SUBMITTED = "TaskSubmitted"
SUPERVISOR_TERMINATED = "SupervisorTerminated"
TASK_SHUT_DOWN = "TaskShutDown"
TASKS_ORPHANED = "TasksOrphaned"
OBJECT_UPDATED = "ObjectUpdated"
OBJECT_REMOVED = "ObjectRemoved"
OBJECT_RETAINED = "ObjectRetained"
RELEASE_INSTALLED = "ReleaseInstalled"
RELEASE_UPGRADED = "ReleaseUpgraded"
RELEASE_UNINSTALLED = "ReleaseUninstalled"
RELEASE_TAKEN_OVER = "ReleaseTakenOver"
RELEASE_RETAINED = "ReleaseRetained"
INTERRUPTED_REVISION_REMOVED = "InterruptedRevisionRemoved"
OBJECT_RESTORED = "ObjectRestored"
FINALIZER_REMOVED = "FinalizerRemoved"
EVENTS_OMITTED = "EventsOmitted"

EVENTS_OF_DRUID = frozenset(
    {
        CREATE_SUCCEEDED,
        CREATE_FAILED,
        UPDATE_SUCCEEDED,
        UPDATE_FAILED,
        DELETE_SUCCEEDED,
        DELETE_FAILED,
        PVCS_RETAINED,
        ROLLOUT_STARTED,
        ROLLOUT_COMPLETED,
        VOLUME_EXPANDING,
        VOLUME_EXPANDED,
        PVC_UPDATED,
        ORPHANED_PVC_MARKED,
        ORPHANED_PVC_UNMARKED,
        ORPHANED_PVC_DELETED,
        WORKER_DISABLED,
        WORKER_ENABLED,
        TASK_GROUPS_HANDED_OFF,
        HISTORICAL_DECOMMISSIONING,
        HISTORICAL_DECOMMISSIONED,
        HISTORICAL_NOT_DECOMMISSIONED,
        HISTORICAL_RECOMMISSIONED,
        SPEC_WARNING,
        ROLLOUT_WARNING,
        FINALIZER_REMOVED,
        EVENTS_OMITTED,
    }
)
EVENTS_OF_INGESTION = frozenset(
    {
        SUPERVISOR_UPDATED,
        DATASOURCE_CONFIG_UPDATED,
        OFFSETS_RESET,
        TASK_SUBMITTED,
        SUPERVISOR_TERMINATED,
        TASK_SHUT_DOWN,
        TASKS_ORPHANED,
        SPEC_WARNING,
        FINALIZER_REMOVED,
        EVENTS_OMITTED,
    }
)
EVENTS_OF_OBJECT = frozenset(
    {OBJECT_UPDATED, OBJECT_REMOVED, OBJECT_RETAINED, SPEC_WARNING, FINALIZER_REMOVED, EVENTS_OMITTED}
)
EVENTS_OF_COLLECTOR = frozenset(
    {
        RELEASE_INSTALLED,
        RELEASE_UPGRADED,
        RELEASE_UNINSTALLED,
        RELEASE_TAKEN_OVER,
        RELEASE_RETAINED,
        INTERRUPTED_REVISION_REMOVED,
        OBJECT_RESTORED,
        SPEC_WARNING,
        FINALIZER_REMOVED,
        EVENTS_OMITTED,
    }
)
