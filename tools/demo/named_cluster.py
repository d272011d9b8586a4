# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print the cluster of DEMO_KUBECONFIG and DEMO_CONTEXT, a line each: the files, the context, the API server's address.

Without a kubeconfig, the context is looked up as by kubectl: in KUBECONFIG, or else in ~/.kube/config. The default is
the current context.
"""

from __future__ import annotations

import os
import sys

import yaml
from kubernetes import client, config

# The client raises the last two if a file is YAML, but not a kubeconfig.
_ERRORS = (config.ConfigException, OSError, ValueError, yaml.YAMLError, AttributeError, TypeError)


def main() -> None:
    """Print the lines, or exit with a message that names the file and the context if they are invalid."""
    named = (os.environ.get(name) for name in ("DEMO_KUBECONFIG", "KUBECONFIG"))
    kubeconfig = _absolute(next(filter(None, named), "~/.kube/config"))
    context = os.environ.get("DEMO_CONTEXT") or None
    try:
        configuration = client.Configuration()
        config.load_kube_config(kubeconfig, context, client_configuration=configuration)
        current = context or config.list_kube_config_contexts(kubeconfig)[1]["name"]
    except _ERRORS as error:
        where = f"context {context}" if context else "the current context"
        sys.exit(f"Cannot use {where} of {kubeconfig}: {' '.join(str(error).split())}")
    print(kubeconfig, current, configuration.host, sep="\n")


def _absolute(kubeconfig: str) -> str:
    """Return a list of files like kubectl's, with absolute paths."""
    files = (os.path.abspath(os.path.expanduser(each)) for each in kubeconfig.split(os.pathsep) if each)
    return os.pathsep.join(files)


if __name__ == "__main__":
    main()
