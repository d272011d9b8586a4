# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines of the control plane's components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path

from .build import Programs
from .objects import SIMULATED

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Layout:
    """Where one control plane has its files and ports."""

    directory: Path
    apiserver_port: int
    etcd_port: int
    peer_port: int
    kwok_port: int
    # where the API server listens: an address that a real node reaches, if there is one
    address: str = field(default=LOOPBACK, kw_only=True)
    # the addresses of Services
    services: str = field(default="10.96.0.0/16", kw_only=True)

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://{self.address}:{self.apiserver_port}"

    @property
    def service_address(self) -> str:
        """The address of the kubernetes Service, which is the first one."""
        return str(next(ip_network(self.services).hosts()))

    @property
    def has_node(self) -> bool:
        """Whether there is a real node, which does not reach loopback."""
        return self.address != LOOPBACK

    @property
    def etcd_url(self) -> str:
        """The address of etcd."""
        return f"http://127.0.0.1:{self.etcd_port}"

    def kubeconfig(self, user: str) -> Path:
        """The kubeconfig of a user."""
        return self.directory / f"{user}.kubeconfig"

    @property
    def audit_log(self) -> Path:
        """The audit log."""
        return self.directory / "audit.log"

    @property
    def tokens(self) -> Path:
        """The tokens of all users."""
        return self.directory / "tokens.csv"

    @property
    def stages(self) -> Path:
        """What kwok does in place of kubelets."""
        return self.directory / "stages.yaml"

    @property
    def authority(self) -> Path:
        """The certificate that all others are signed with."""
        return self.directory / "ca.crt"


def certificates(programs: Programs, layout: Layout) -> list[str]:
    """The command that makes the certificates."""
    return [str(programs.kubernetes), "certificates", str(layout.directory), layout.address, layout.service_address]


def etcd(programs: Programs, layout: Layout) -> list[str]:
    """The command line of etcd."""
    peer = f"http://127.0.0.1:{layout.peer_port}"
    return [
        *_on_one_processor(),
        str(programs.kubernetes),
        "etcd",
        "--name=testbed",
        f"--data-dir={layout.directory}/etcd",
        "--unsafe-no-fsync",
        f"--listen-client-urls={layout.etcd_url}",
        f"--advertise-client-urls={layout.etcd_url}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=testbed={peer}",
        "--log-level=warn",
        # a single member needs no long timeout: 0.15 s to a leader instead of 0.8 s
        "--heartbeat-interval=10",
        "--election-timeout=100",
    ]


def apiserver(programs: Programs, layout: Layout, extra: Sequence[str] = ()) -> list[str]:
    """The command line of kube-apiserver."""
    here = layout.directory
    return [
        *_on_one_processor(),
        str(programs.kubernetes),
        "kube-apiserver",
        f"--etcd-servers={layout.etcd_url}",
        f"--bind-address={layout.address}",
        f"--advertise-address={layout.address}",
        f"--secure-port={layout.apiserver_port}",
        f"--tls-cert-file={here}/apiserver.crt",
        f"--tls-private-key-file={here}/apiserver.key",
        f"--client-ca-file={layout.authority}",
        f"--token-auth-file={layout.tokens}",
        "--authorization-mode=Node,RBAC",
        f"--service-account-key-file={here}/sa.key",
        f"--service-account-signing-key-file={here}/sa.key",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-cluster-ip-range={layout.services}",
        # loopback cannot be an endpoint of the kubernetes Service
        f"--endpoint-reconciler-type={'lease' if layout.has_node else 'none'}",
        # kubelets accept whom the authority knows
        f"--kubelet-client-certificate={here}/apiserver.crt",
        f"--kubelet-client-key={here}/apiserver.key",
        "--kubelet-preferred-address-types=InternalIP",
        "--allow-privileged=true",
        f"--requestheader-client-ca-file={layout.authority}",
        "--requestheader-allowed-names=kube-apiserver",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={here}/apiserver.crt",
        f"--proxy-client-key-file={here}/apiserver.key",
        "--profiling=false",
        f"--audit-policy-file={Path(__file__).parent}/audit-policy.yaml",
        f"--audit-log-path={layout.audit_log}",
        # megabytes: never rotated, since readers remember offsets
        "--audit-log-maxsize=10000",
        *extra,
    ]


def controller_manager(programs: Programs, layout: Layout) -> list[str]:
    """The command line of kube-controller-manager."""
    here = layout.directory
    return [
        *_on_one_processor(),
        str(programs.kubernetes),
        "kube-controller-manager",
        *_client(layout, "controller-manager"),
        "--use-service-account-credentials=true",
        # nothing reads Endpoints, which are written whenever a pod changes: one write in ten
        "--controllers=*,-endpoints-controller",
        f"--service-account-private-key-file={here}/sa.key",
        f"--root-ca-file={layout.authority}",
        f"--cluster-signing-cert-file={layout.authority}",
        f"--cluster-signing-key-file={here}/ca.key",
        # the binder retries a lost race at its next resync only, 15 s by default
        "--pvclaimbinder-sync-period=1s",
        # 15 s by default
        "--horizontal-pod-autoscaler-sync-period=2s",
        # simulated kubelets are never away, only late: on a busy machine, or when a test keeps the API server from them
        "--node-monitor-grace-period=10m",
    ]


def scheduler(programs: Programs, layout: Layout) -> list[str]:
    """The command line of kube-scheduler."""
    return [
        *_on_one_processor(),
        str(programs.kubernetes),
        "kube-scheduler",
        *_client(layout, "scheduler"),
        # a pod whose PVC is bound while it is being scheduled may be forgotten for 5 minutes
        "--pod-max-in-unschedulable-pods-duration=10s",
    ]


def kwok(programs: Programs, layout: Layout) -> list[str]:
    """The command line of kwok."""
    return [
        *_on_one_processor(),
        str(programs.kwok),
        "kwok",
        f"--kubeconfig={layout.kubeconfig('kwok')}",
        f"--manage-nodes-with-annotation-selector={SIMULATED}" if layout.has_node else "--manage-all-nodes=true",
        f"--config={layout.stages}",
        f"--server-address=127.0.0.1:{layout.kwok_port}",
        "--node-lease-duration-seconds=40",
        "--cidr=10.0.0.1/16",
        "--node-ip=127.0.0.1",
    ]


def _on_one_processor() -> list[str]:
    """Run the following program on one processor: its threads that look for work cost a sixth of the total time.

    Memory for time: otherwise the garbage collector of the API server takes a sixth, and growing stacks 6 % (profiled).
    """
    return ["env", "GOMAXPROCS=1", "GOGC=400", "GODEBUG=adaptivestackstart=1"]


def _client(layout: Layout, user: str) -> list[str]:
    kubeconfig = layout.kubeconfig(user)
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        # controllers throttle themselves at 20 requests a second otherwise
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--profiling=false",
    ]
