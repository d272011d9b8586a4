# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster DEMO_KUBECONFIG and DEMO_CONTEXT name, a line each: the files, the context, the API server's address.

A context without a kubeconfig is looked up where kubectl would: in KUBECONFIG, or else in ~/.kube/config. Without a
context it is the current one.
"""

from __future__ import annotations

import os
import sys

import yaml
from kubernetes import client, config

# The last two are what the client fails with when a file is YAML, but no kubeconfig.
_ERRORS = (config.ConfigException, OSError, ValueError, yaml.YAMLError, AttributeError, TypeError)


def main() -> None:
    """Print the lines; an exit with one that names file and context when they lead nowhere."""
    named = (os.environ.get(name) for name in ("DEMO_KUBECONFIG", "KUBECONFIG"))
    kubeconfig = _absolute(next(filter(None, named), "~/.kube/config"))
    context = os.environ.get("DEMO_CONTEXT") or None
    try:
        configuration = client.Configuration()
        config.load_kube_config(kubeconfig, context, client_configuration=configuration)
        current = context or config.list_kube_config_contexts(kubeconfig)[1]["name"]
    except _ERRORS as error:
        where = f"context {context}" if context else "the current context"
        sys.exit(f"No cluster to use by {where} of {kubeconfig}: {' '.join(str(error).split())}")
    print(kubeconfig, current, configuration.host, sep="\n")


def _absolute(kubeconfig: str) -> str:
    """Return a list of files like kubectl's, good in every directory."""
    files = (os.path.abspath(os.path.expanduser(each)) for each in kubeconfig.split(os.pathsep) if each)
    return os.pathsep.join(files)


if __name__ == "__main__":
    main()
