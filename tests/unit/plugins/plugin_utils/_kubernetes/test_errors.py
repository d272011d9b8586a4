# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The attributes of errors that programs use."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    ApiError,
    DruidopsError,
    KubernetesError,
    Unreachable,
)

NAMED = {"name": "n"}


def error(status: int, document: dict[str, Any], verb: str = "patch") -> ApiError:
    return ApiError(verb, "configmaps", "ConfigMap", "ns", "n", status, document)


# (status, document, object missing, kind missing)
MISSING: list[tuple[int, dict[str, Any], bool, bool]] = [
    (404, {"details": NAMED}, True, False),
    (404, {"details": {}}, False, True),
    (404, {"details": None}, False, True),
    (404, {}, False, True),
    (409, {"details": NAMED}, False, False),
    (500, {}, False, False),
]


@pytest.mark.parametrize(("status", "document", "missing_object", "missing_kind"), MISSING)
def test_missing_object_or_kind(
    status: int, document: dict[str, Any], missing_object: bool, missing_kind: bool
) -> None:
    assert error(status, document).is_missing_object is missing_object
    assert error(status, document).is_missing_kind is missing_kind


CAUSES: list[tuple[dict[str, Any], tuple[tuple[str, str], ...]]] = [
    ({}, ()),
    ({"details": {"causes": None}}, ()),
    ({"details": {"causes": [{"field": "spec.a", "message": "m"}, {"reason": "r"}]}}, (("spec.a", "m"), ("", ""))),
]


@pytest.mark.parametrize(("document", "causes"), CAUSES)
def test_causes(document: dict[str, Any], causes: tuple[tuple[str, str], ...]) -> None:
    assert error(422, document).causes == causes


# kube-apiserver 1.34
FAILED = "the server rejected our request due to an error in our request"
TESTS: list[tuple[ApiError, bool]] = [
    (error(422, {"message": FAILED}), True),
    (error(422, {"message": FAILED, "details": {"causes": [{"field": "f"}]}}), False),
    (error(409, {"message": FAILED}), False),
    (error(422, {"message": FAILED}, "update"), False),
    (error(422, {"message": "invalid"}), False),
]


@pytest.mark.parametrize(("rejection", "is_test"), TESTS)
def test_failed_test_operation_of_a_patch(rejection: ApiError, is_test: bool) -> None:
    assert rejection.is_failed_patch_test is is_test


def test_terminating_namespace() -> None:
    cause = {"reason": "NamespaceTerminating", "message": "namespace ns is being terminated"}
    assert error(403, {"details": {"causes": [cause]}}, "create").is_namespace_terminating
    assert not error(403, {"details": None}, "create").is_namespace_terminating


def test_message_omits_unchecked_validation_rules() -> None:
    unchecked = (
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation"
    )
    assert error(422, {"message": f"it is invalid: [spec.a: Required value, {unchecked}]"}).message == (
        "it is invalid: [spec.a: Required value]"
    )


def test_message_omits_the_dump_of_an_object() -> None:
    assert error(409, {"message": "cannot be done\n@@ -1 +1 @@ everything"}).message == "cannot be done"


def test_common_base_class() -> None:
    cause = OSError("no route")
    unreachable = Unreachable("get", "configmaps", "n", "https://example.com", cause)
    assert isinstance(unreachable, KubernetesError)
    assert isinstance(error(400, {}), KubernetesError)
    assert issubclass(KubernetesError, DruidopsError)
    assert "(OSError: no route)" in str(unreachable)
    assert "configmaps n" in str(unreachable)
