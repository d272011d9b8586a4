# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions about a Collector, without an API server."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import helm_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import UnreadableChart, local_chart
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import (
    MAX_BYTES,
    Release,
    UnreadableRelease,
    release_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import scope_problems
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    DEPLOYED_LABEL,
    HELM_SECRET_TYPE,
    RETRY_ANNOTATION,
    Collector,
    InvalidConfig,
    decoded,
    is_safe_path,
    owner_labels,
    problems,
    text_of,
    values,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import Chart, Observed, Target
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, ApiResource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

CHART = Chart("druid-collector", "0.1.0", "/charts/druid-collector")
REPOSITORY = "https://charts.example.com"
NEUTRAL = ("HELM_KUBECONTEXT", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN", "HELM_KUBEASUSER", "HELM_KUBEASGROUPS")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def collector(
    *, status: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None, **spec: Any
) -> Collector:
    inside = {"name": "telemetry", **spec.pop("collector", {})}
    named = {"name": "a", "namespace": "ns", "uid": "u-a", "creationTimestamp": "2026-01-02T00:00:00Z"}
    spec = {"collector": inside, **spec}
    return Collector.from_resource({"metadata": {**named, **(metadata or {})}, "spec": spec, "status": status or {}})


def secret(
    number: int = 1, state: str = "deployed", labels: dict[str, str] | None = None, **other: Any
) -> dict[str, Any]:
    release = {
        "version": number,
        "info": {"status": state, "last_deployed": "2025-12-31T23:59:00Z"},
        "chart": {"metadata": {"name": "druid-collector", "version": "0.1.0"}},
        "config": {},
        "manifest": "",
        **other,
    }
    data = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(release).encode()))).decode()
    created = f"2026-01-03T00:00:{number:02}Z"
    metadata = {"name": f"sh.helm.release.v1.telemetry.v{number}", "namespace": "ns", "creationTimestamp": created}
    marks = {"owner": "helm", "name": "telemetry", "version": str(number), "status": state, **(labels or {})}
    metadata = {**metadata, "labels": marks}
    return {"type": HELM_SECRET_TYPE, "metadata": metadata, "data": {"release": data}}


def release(*secrets: dict[str, Any]) -> Release:
    found = release_of(secrets)
    assert found is not None
    return found


def found_reasons(*findings: Finding) -> list[str]:
    return [each.reason for each in findings]


# What kubernetes.core would split, expand or take for an option.
HOSTILE = ["a b", "-x", "~", "$HOME", "a;b", "a'b", 'a"b', "a\nb", "{{ a }}", "../a", "a/../b", "${IFS}", "a\\b", ""]
HOSTILE += ["--post-renderer=/bin/sh", "file:///etc", "a%2f..", "a\n", "a\x00"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_becomes_a_word_of_the_command_line(text: str) -> None:
    address = {"repository": REPOSITORY, "name": "c", "version": "1.0.0"}
    specs: list[dict[str, Any]] = [
        {"collector": {"name": text}},
        {"tenant": text or " "},
        {"collector": {"version": text or " "}},
        *({"chart": {**address, field: text}} for field in address),
        {"chart": {**address, "repository": f"{REPOSITORY}/{text or '/'}"}},
    ]
    for spec in specs:
        assert problems(collector(**spec), [REPOSITORY]), spec
    assert text in ("", "-x") or not is_safe_path(text)


def test_valid_ones() -> None:
    assert problems(collector(collector={"version": "0.149.0"}, tenant="team-a", cluster="wiki"), []) == ()
    own = {"metricsPort": 9000, "scrapeInterval": "5s"}
    assert problems(collector(cluster="wiki", values={"druid": own}), []) == ()
    for repository in (REPOSITORY, "oci://registry.example.com:5000/a/b"):
        chart = {"repository": repository, "name": "c", "version": "1.0.0-rc.1+b"}
        assert problems(collector(chart=chart), [f"{repository}/"]) == ()


@pytest.mark.parametrize(
    "allowed", [[], [f"{REPOSITORY}.evil.example"], [f"{REPOSITORY}/a"], ["https://charts"], ["*"]]
)
def test_repository_must_be_allowed_as_a_whole(allowed: list[str]) -> None:
    chart = {"repository": REPOSITORY, "name": "c", "version": "1.0.0"}
    assert found_reasons(*problems(collector(chart=chart), allowed)) == [reasons.CHART_NOT_ALLOWED]


@pytest.mark.parametrize(
    "spec",
    [
        {"collector": {"config": "a", "configFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}},
        {"values": {"config": "a"}},
        {"values": {"druid": {"name": "other"}}},
        {"values": {"druid": {"namespace": "other"}}},
        {"values": {"image": {"tag": "a"}}},
        {"chart": {"repository": REPOSITORY, "name": "c", "version": "1.0.0"}, "cluster": "wiki"},
    ],
)
def test_one_field_for_one_thing(spec: dict[str, Any]) -> None:
    assert found_reasons(*problems(collector(**spec), [REPOSITORY])) == [reasons.INVALID_SPEC]


def test_tenant() -> None:
    assert decide.tenant_problem(collector(tenant="ns"), []) == ()
    assert (
        decide.tenant_problem(collector(tenant="b"), ["b"]) == decide.tenant_problem(collector(tenant="b"), ["*"]) == ()
    )
    assert found_reasons(*decide.tenant_problem(collector(tenant="b"), ["bb"])) == [reasons.REF_NOT_PERMITTED]


OURS = owner_labels("ns", "a")
OTHERS = owner_labels("ns", "b")
RECORDED = {"release": {"name": "telemetry", "namespace": "ns", "chart": "druid-collector-0.1.0"}}
BEGUN = {"release": {**RECORDED["release"], "installing": True}}
BEGUN_OTHER = {"release": {**BEGUN["release"], "chart": "druid-collector-0.2.0"}}


@pytest.mark.parametrize(
    ("labels", "status", "take_over", "expected"),
    [
        (OURS, {}, False, []),
        ({}, {}, False, [reasons.RELEASE_NOT_OWNED]),
        ({}, {}, True, []),
        # installed, and interrupted before the mark
        ({}, BEGUN, False, []),
        # another client has installed it since
        ({}, RECORDED, False, [reasons.RELEASE_NOT_OWNED]),
        ({}, BEGUN_OTHER, False, [reasons.RELEASE_NOT_OWNED]),
        # its owner does not exist any more
        (OTHERS, {}, False, [reasons.RELEASE_NOT_OWNED]),
        (OTHERS, BEGUN, False, [reasons.RELEASE_NOT_OWNED]),
        (OTHERS, {}, True, []),
    ],
)
def test_owner(labels: dict[str, str], status: dict[str, Any], take_over: bool, expected: list[str]) -> None:
    observed = Observed(release=release(secret(labels=labels)))
    found = decide.ownership_problems(collector(status=status, takeOver=take_over), observed, CHART)
    assert found_reasons(*found) == expected


@pytest.mark.parametrize(
    ("spec", "status", "metadata", "chart"),
    [
        ({}, BEGUN, {}, None),
        ({}, BEGUN, {}, Chart("other", "0.1.0", "/charts/other")),
        # a release that was there before the resource
        ({}, BEGUN, {"creationTimestamp": "2026-01-03T00:00:02Z"}, CHART),
        ({"collector": {"name": "other"}}, BEGUN, {}, CHART),
        ({"tenant": "other"}, BEGUN, {}, CHART),
        ({}, {"release": {**BEGUN["release"], "installing": "yes"}}, {}, CHART),
    ],
)
def test_status_does_not_make_a_release_ours(
    spec: dict[str, Any], status: dict[str, Any], metadata: dict[str, Any], chart: Chart | None
) -> None:
    unmarked, marked = release(secret()), release(secret(labels=OURS))
    assert decide.is_ours(collector(status=BEGUN), unmarked, CHART)
    assert not decide.is_ours(collector(status=status, metadata=metadata, **spec), unmarked, chart)
    assert decide.is_ours(collector(status=status, metadata=metadata, **spec), marked, chart)


def test_existing_owner_and_other_chart_are_never_taken_over() -> None:
    owner = {"metadata": {"name": "b", "namespace": "ns"}}
    observed = Observed(release=release(secret(labels=OTHERS)), owner=owner)
    found = [*decide.ownership_problems(collector(takeOver=True), observed, CHART)]
    assert found_reasons(*found) == [reasons.DUPLICATE_COLLECTOR]
    assert "Collector ns/b" in found[0].message
    other = {"chart": {"metadata": {"name": "x", "version": "0.1.0"}}}
    found = [*decide.ownership_problems(collector(takeOver=True), Observed(release=release(secret(**other))), CHART)]
    assert found_reasons(*found) == [reasons.RELEASE_NOT_OWNED]


def test_older_sibling() -> None:
    def sibling(created: str, **spec: Any) -> dict[str, Any]:
        metadata = {"name": "b", "namespace": "ns", "uid": "u-b", "creationTimestamp": created}
        return {"metadata": metadata, "spec": {"collector": {"name": "telemetry"}, **spec}}

    def found(each: dict[str, Any]) -> list[str]:
        return found_reasons(*decide.ownership_problems(collector(), Observed(siblings=(each,)), CHART))

    assert found(sibling("2026-01-01T00:00:00Z")) == [reasons.DUPLICATE_COLLECTOR]
    # as old, and later in the alphabet
    assert found(sibling("2026-01-02T00:00:00Z")) == []
    assert found(sibling("2026-01-01T00:00:00Z", tenant="other")) == []


def test_renamed() -> None:
    status = {"release": {"name": "former", "namespace": "ns"}}
    assert found_reasons(*decide.ownership_problems(collector(status=status), Observed(), CHART)) == [
        reasons.INVALID_SPEC
    ]


def test_deployed_and_failed() -> None:
    desired = Target("telemetry", "ns", CHART, {"a": 1})
    assert decide.is_deployed(desired, release(secret(config={"a": 1})))
    assert not decide.is_deployed(desired, release(secret(config={"a": 2})))
    assert not decide.is_deployed(desired, release(secret(state="failed", config={"a": 1})))
    assert not decide.is_deployed(desired, None)
    # the revision that failed is later than the one that is deployed
    assert decide.is_deployed(desired, release(secret(1, config={"a": 1}), secret(2, "failed", config={"a": 2})))

    # for Python, true is 1
    assert not decide.is_deployed(desired, release(secret(config={"a": True})))

    # Helm rounds large numbers; its label of an earlier revision counts for nothing
    rounded = secret(2, labels={DEPLOYED_LABEL: decide.deployed_label(desired, release(secret(2)).latest)})
    assert decide.is_deployed(desired, release(rounded))
    copied = secret(3, labels=rounded["metadata"]["labels"])
    assert not decide.is_deployed(desired, release(copied))

    failed = {"failedAttempt": {"digest": decide.attempt_digest(desired, {}), "message": "m"}}
    assert decide.failed_before(collector(status=failed), desired)
    assert not decide.failed_before(collector(status=failed), Target("telemetry", "ns", CHART, {"a": 2}))
    retried = collector(status=failed, metadata={"annotations": {RETRY_ANNOTATION: "1"}})
    assert not decide.failed_before(retried, desired)


def test_interrupted() -> None:
    assert decide.interrupted(release(secret()), NOW, 60) is None
    assert isinstance(decide.interrupted(release(secret(state="pending-upgrade")), NOW, 60), Finding)
    found = decide.interrupted(
        release(
            secret(1),
            secret(
                2,
                "pending-upgrade",
                info={"status": "pending-upgrade", "last_deployed": "2025-12-31T23:00:00.123456789Z"},
            ),
        ),
        NOW,
        60,
    )
    assert not isinstance(found, Finding)
    assert found is not None
    assert found.number == 2


def test_encoding_is_never_guessed() -> None:
    encoded = base64.b64encode("é".encode()).decode()
    assert decoded(encoded, False) == encoded
    assert decoded(f"{encoded}\n", True) == "é"
    for text in ("plain text", "%%", base64.b64encode(b"\xff").decode()):
        with pytest.raises(InvalidConfig) as error:
            decoded(text, True)
        assert text not in str(error.value)
    with pytest.raises(InvalidConfig):
        text_of({"kind": "Secret", "data": {"k": base64.b64encode(b"\xff").decode()}}, "k")


def test_values() -> None:
    druid = {"spec": {"common.runtime.properties": "druid.emitter.prometheus.port=9999\n"}}
    specified = collector(
        cluster="wiki", collector={"version": "1"}, values={"replicas": 2, "image": {"repository": "r"}}
    )
    assert values(specified, "text", druid) == {
        "replicas": 2,
        "image": {"repository": "r", "tag": "1"},
        "config": "text",
        "druid": {"metricsPort": 9999, "name": "wiki", "namespace": "ns"},
    }
    for port in ("-1", "9" * 5000, "x", "٣"):
        other = {"spec": {"common.runtime.properties": f"druid.emitter.prometheus.port={port}\n"}}
        assert "metricsPort" not in values(specified, None, other)["druid"]
    own = collector(cluster="wiki", values={"druid": {"metricsPort": 1}})
    assert values(own, None, druid)["druid"]["metricsPort"] == 1
    chart = {"repository": REPOSITORY, "name": "c", "version": "1.0.0"}
    assert values(collector(chart=chart, values={"a": 1}), None, None) == {"a": 1}


def test_secrets_of_the_environment() -> None:
    chart = {"repository": REPOSITORY, "name": "c", "version": "1.0.0"}
    own = {"environmentSecrets": ["s", 1, "t"]}
    assert collector(values=own).environment_secrets == ("s", "t")
    assert collector(values=own, chart=chart).environment_secrets == ()
    assert collector(values={"environmentSecrets": "s"}).environment_secrets == ()

    def found(environment: dict[str, Any]) -> Target | Finding:
        return decide.target(collector(), Observed(environment=environment), CHART)

    missing = found({"s": None})
    assert isinstance(missing, Finding)
    assert (missing.reason, "Secret s in namespace ns" in missing.message) == (reasons.REFERENCE_NOT_FOUND, True)
    contents = (("u", "a"), ("u", "b"), ("v", "a"))
    secrets = [{"metadata": {"uid": uid}, "data": {"k": value}} for uid, value in contents]
    desired = [found({"s": each}) for each in secrets]
    # with another uid, it is another one: who guesses the data has to know that
    checksums = {each.values["environmentChecksum"] for each in desired if isinstance(each, Target)}
    assert len(checksums) == len(contents)
    labelled = {**secrets[0], "metadata": {"uid": "u", "labels": {"a": "b"}}}
    assert found({"s": labelled}) == found({"s": secrets[0]})


def manifest(kind: str, version: str = "v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "n", **metadata}}


def test_scope() -> None:
    kinds = {("v1", "Secret"): KINDS["Secret"], ("v1", "Namespace"): ApiResource("v1", "namespaces", False)}

    def found(*objects: dict[str, Any], allows: bool = False) -> list[str]:
        return found_reasons(*scope_problems(objects, kinds, {"ns"}, allows_cluster_scoped=allows))

    assert found(manifest("Secret"), manifest("Secret", namespace="ns")) == []
    assert found(manifest("Secret", namespace="other")) == [reasons.REF_NOT_PERMITTED]
    assert found(manifest("Secret", namespace="other"), allows=True) == [reasons.REF_NOT_PERMITTED]
    # its namespace has no effect
    assert found(manifest("Namespace", namespace="ns")) == [reasons.CLUSTER_SCOPED_OBJECTS]
    assert found(manifest("Namespace"), allows=True) == []
    assert found(manifest("Unknown")) == [reasons.REFERENCE_NOT_FOUND]


def test_objects_of_hooks() -> None:
    hook = {"name": "h", "manifest": "kind: Job\napiVersion: batch/v1\nmetadata: {name: h, namespace: other}"}
    assert [each["metadata"]["namespace"] for each in release(secret(hooks=[hook])).latest.hooks] == ["other"]


def deep() -> list[Any]:
    found: list[Any] = []
    for _level in range(500):
        found = [found]
    return found


def test_unreadable_release() -> None:
    wrong = {**secret(), "data": {"release": base64.b64encode(b"x").decode()}}
    with pytest.raises(UnreadableRelease, match="is not a release of Helm 3"):
        release_of([wrong])
    with pytest.raises(UnreadableRelease, match="is not a release of Helm 3"):
        release_of([secret(manifest="a" * MAX_BYTES)])
    for damaged in ({"version": 1e999}, {"info": "x"}, {"hooks": [1]}, {"config": deep(), "version": []}):
        with pytest.raises(UnreadableRelease, match="is not a release of Helm 3"):
            release_of([secret(**damaged)])
    with pytest.raises(UnreadableRelease, match=r"telemetry.v1 has a release that cannot be used: .* is not an object"):
        release_of([secret(manifest="kind: Secret\napiVersion: v1\nmetadata: {name: [a]}")])
    with pytest.raises(UnreadableRelease, match="no label"):
        release_of([secret(labels={"version": "x"})])
    # neither the latest nor the deployed one
    older = {**wrong, "metadata": secret(1, "superseded")["metadata"]}
    found = release(older, secret(2), secret(3, "failed"))
    assert (found.latest.number, found.deployed and found.deployed.number, len(found.secrets)) == (3, 2, 3)
    assert release_of([{**secret(), "type": "Opaque"}]) is None


def test_chart_of_a_path_that_the_command_line_would_change() -> None:
    for path in ("/a b", "~/chart", "/$HOME", "charts"):
        with pytest.raises(UnreadableChart):
            local_chart(path)


def test_connection() -> None:
    set_by_shell = {"HELM_KUBECONTEXT": "other", "HELM_DRIVER": "configmap", "HELM_KUBETOKEN": "t"}
    found = helm_connection({"kubeconfig": "/k", "context": "c"}, set_by_shell)
    assert (found.environment["KUBECONFIG"], found.arguments) == ("/k", {"context": "c"})
    for options in ({}, {"kubeconfig": "/k"}, {"kubeconfig": {"kind": "Config"}}, {"host": "https://h"}):
        environment = helm_connection(options, set_by_shell).environment
        assert environment["HELM_DRIVER"] == "secret"
        assert all(environment[name] == "" for name in (*NEUTRAL, "K8S_AUTH_KUBECONFIG")), options
    assert helm_connection({"host": "https://h", "api_key": "t"}, {}).arguments == {"host": "https://h", "api_key": "t"}
    with pytest.raises(KubernetesError, match="client_cert"):
        helm_connection({"client_cert": "/c"}, {})
