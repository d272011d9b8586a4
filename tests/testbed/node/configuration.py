# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration files of what runs on a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .network import Network
from .requirements import plugins

NAME = "real"
# In the node /run is a file system of its own.
RUN = Path("/run/node")
SOCKET = RUN / "containerd.sock"
SANDBOX_IMAGE = "localhost/sandbox:1"
_DOMAIN = "cluster.local"
_UNUSED_PLUGINS = [f"io.containerd.snapshotter.v1.{name}" for name in ("btrfs", "zfs", "aufs", "devmapper")]


def containerd(directory: Path) -> str:
    """The file of containerd, in TOML."""
    return f"""version = 2
root = "{directory}/containerd"
state = "{RUN}/containerd"
disabled_plugins = {json.dumps(_UNUSED_PLUGINS)}
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{SANDBOX_IMAGE}"
  disable_apparmor = true
  # root of a virtual machine may not lower it
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins()}"
    conf_dir = "{directory}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def pod_network(network: Network) -> dict[str, Any]:
    """The chain of network plugins: a cable for each pod, and no way out of this machine."""
    addresses = {"type": "host-local", "dataDir": f"{RUN}/addresses", "ranges": [[{"subnet": network.pods}]]}
    routes = {"routes": [{"dst": "0.0.0.0/0"}]}
    pods = {"type": "ptp", "ipMasq": False, "ipam": {**addresses, **routes}}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [pods]}


def kubelet(directory: Path, network: Network, authority: Path, group: str) -> dict[str, Any]:
    """The file of the kubelet."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": network.address,
        "healthzBindAddress": "127.0.0.1",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(authority)},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{group}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "enforceNodeAllocatable": ["pods"],
        # the disk is this machine's
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "evictionPressureTransitionPeriod": "5s",
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "clusterDNS": [network.address],
        "clusterDomain": _DOMAIN,
        "resolvConf": f"{directory}/no-resolver",
        "podLogsDir": f"{directory}/logs",
        "volumePluginDir": f"{directory}/plugins",
        "serializeImagePulls": False,
        "nodeStatusUpdateFrequency": "5s",
        "makeIPTablesUtilChains": False,
    }


def kube_proxy(network: Network, kubeconfig: Path) -> dict[str, Any]:
    """The file of kube-proxy."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "bindAddress": "127.0.0.1",
        "clusterCIDR": network.pods,
        "hostnameOverride": NAME,
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        # values of the whole machine stay as they are
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "nftables": {"minSyncPeriod": "100ms", "syncPeriod": "30s"},
    }


def coredns(network: Network, kubeconfig: Path) -> str:
    """The file of CoreDNS: names of the cluster, and no others."""
    return f""".:53 {{
    bind {network.address}
    errors
    kubernetes {_DOMAIN} in-addr.arpa {{
        kubeconfig {kubeconfig}
        pods insecure
        ttl 1
    }}
}}
"""


def write(directory: Path, network: Network, kubeconfigs: dict[str, Path], authority: Path, group: str) -> None:
    """Write all files into the directory of the node."""
    for name in ("cni", "logs", "plugins", "kubelet", "volumes"):
        (directory / name).mkdir(parents=True)
    files = {
        "no-resolver": "",
        "containerd.toml": containerd(directory),
        "cni/pods.conflist": json.dumps(pod_network(network)),
        "kubelet.json": json.dumps(kubelet(directory, network, authority, group)),
        "kube-proxy.json": json.dumps(kube_proxy(network, kubeconfigs["kube-proxy"])),
        "Corefile": coredns(network, kubeconfigs["coredns"]),
    }
    for name, text in files.items():
        (directory / name).write_text(text)
