# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in in a pod: it logs in with the files of the pod's ServiceAccount, as client-go does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..users import write_kubeconfig
from . import program

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_KUBECONFIG = Path("/tmp/stand-in.kubeconfig")


def main() -> int:
    """Run it with a kubeconfig of the account; its Lease is in the namespace of the pod."""
    namespace, token = ((_ACCOUNT / name).read_text() for name in ("namespace", "token"))
    url = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    write_kubeconfig(_KUBECONFIG, url, (_ACCOUNT / "ca.crt").read_bytes(), "pod", token)
    os.environ["KUBECONFIG"] = str(_KUBECONFIG)
    return program.main([*sys.argv[1:], f"--leader-election-namespace={namespace}"])
