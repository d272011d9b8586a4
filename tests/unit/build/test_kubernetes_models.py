# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes client without what no run uses, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from runner import kubernetes_models
kubernetes_models.leave_out()
import kubernetes.client
from kubernetes.config import kube_config
configuration = kubernetes.client.Configuration()
login = {"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "a", "user": "u"}}],
         "clusters": [{"name": "a", "cluster": {"server": "https://192.0.2.1"}}],
         "users": [{"name": "u", "user": {"token": "t"}}]}
kube_config.load_kube_config_from_dict(login, client_configuration=configuration)
kubernetes.client.ApiClient(configuration)
try:
    refusal = kubernetes.client.V1Pod()
except RuntimeError as error:
    refusal = str(error)
import requests
left_out = ("google.auth", "oauthlib.oauth2", "kubernetes.dynamic", "charset_normalizer")
loaded = [each for each in left_out if getattr(sys.modules.get(each), "__file__", None)]
print(json.dumps([configuration.host, configuration.api_key, refusal, loaded]))
"""


def test_configuration_without_models() -> None:
    command = [sys.executable, "-c", PROGRAM, str(Path("build").resolve())]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    # requests has no warning about what is left out
    assert ended.stderr == ""
    host, key, refusal, loaded = json.loads(ended.stdout)
    assert loaded == []
    assert (host, [*key.values()]) == ("https://192.0.2.1", ["Bearer t"])
    assert refusal == "This class of the Kubernetes client is left out in the operator's resident process."
