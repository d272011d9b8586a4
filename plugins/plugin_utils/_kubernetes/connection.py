# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A connection from the authentication options of kubernetes.core: same names, environment variables and order."""

from __future__ import annotations

import os
import re
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.gc import without_gc

try:
    with without_gc():
        import urllib3
        from kubernetes import config
        from kubernetes.client import Configuration
        from kubernetes.client.rest import RESTClientObject
        from kubernetes.config import kube_config
    from urllib3.util.ssl_ import create_urllib3_context
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None

# Options that are sent in a header, and characters that a header cannot contain (RFC 9110, section 5.5).
_IN_HEADERS = ("api_key", "username", "password", "impersonate_user", "impersonate_groups", "proxy_headers")
_NOT_IN_HEADERS = re.compile(r"[^\t\x20-\x7e\xa0-\xff]")

# The client's files are those of the whole process: another thread may not see one that is being written or removed.
_FILES_LOCK = threading.Lock()
# The client's errors for a YAML file that is not a kubeconfig.
_NO_KUBECONFIG = (AttributeError, TypeError)


def connect(options: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> KubernetesApi:
    """Return a connection from ``options``, with the environment (os.environ) for unset ones.

    It sends no request. KubernetesError if the options are invalid.
    """
    if _MISSING is not None:
        raise KubernetesError(
            f"The Python library kubernetes is not installed where the playbook runs ({sys.executable}): {_MISSING}. "
            "Install it, for example with: python -m pip install kubernetes"
        )
    options = with_environment(options, os.environ if environment is None else environment)
    _check_headers(options)
    with _without_files():
        configuration = _configuration(options)
        server, user_of_url = without_credentials(configuration.host)
        context = _ssl_context(configuration) if server.lower().startswith("https:") else None
        transport = _transport(configuration, context)
    fixed = {**user_of_url, **_basic_auth(options)}
    groups = options.get("impersonate_groups") or ()

    def headers() -> urllib3.HTTPHeaderDict:
        headers = urllib3.HTTPHeaderDict({**_authorization(configuration), **fixed})
        if options.get("impersonate_user"):
            headers.add("Impersonate-User", options["impersonate_user"])
        for group in groups:
            headers.add("Impersonate-Group", group)
        if any(map(_NOT_IN_HEADERS.search, headers.values())):
            raise _invalid_header("the kubeconfig's token, or the output of its exec plugin,")
        return headers

    return KubernetesApi(server, transport, headers)


@contextmanager
def _without_files() -> Iterator[None]:
    """Remove the files that the client writes of a kubeconfig's data, such as the private key.

    The client itself does so when Python ends, and Ansible's workers end without that.
    """
    with _FILES_LOCK:
        known = {*kube_config._temp_files}
        try:
            yield
        finally:
            for content in {*kube_config._temp_files} - known:
                with suppress(OSError):
                    os.unlink(kube_config._temp_files.pop(content))


def _configuration(options: Mapping[str, Any]) -> Configuration:
    # Before the client validates it: some versions of the client ignore the error.
    _parts(options.get("host") or "")
    configuration = Configuration()
    if not _is_complete(options):
        _load(options, configuration)
    for name, option in OPTIONS.items():
        if option.attribute and options.get(name) is not None:
            setattr(configuration, option.attribute, options[name])
    if options.get("api_key"):
        configuration.api_key = {"authorization": f"Bearer {options['api_key']}"}
    if options.get("proxy_headers"):
        configuration.proxy_headers = urllib3.make_headers(**options["proxy_headers"])
    return configuration


def _is_complete(options: Mapping[str, Any]) -> bool:
    """True when the options are sufficient, so that no kubeconfig is read."""
    credentials = (("api_key",), ("username", "password"), ("client_cert", "client_key"))
    return bool(options.get("host")) and any(all(options.get(name) for name in names) for names in credentials)


def _load(options: Mapping[str, Any], configuration: Configuration) -> None:
    named = options.get("kubeconfig") or options.get("context")
    try:
        if named or not _is_in_cluster(configuration):
            _load_kubeconfig(options, configuration)
    except (config.ConfigException, OSError, ValueError, yaml.YAMLError, *_NO_KUBECONFIG) as error:
        cause = _about_context(options) or str(error).rstrip(".")
        raise KubernetesError(
            f"Cannot connect to a Kubernetes cluster: {_place(options)}{cause}. "
            "Set kubeconfig (K8S_AUTH_KUBECONFIG) and context, or host and api_key."
        ) from error


def _is_in_cluster(configuration: Configuration) -> bool:
    """Load the configuration of a pod; False if this is none."""
    try:
        config.load_incluster_config(client_configuration=configuration)
    except config.ConfigException:
        return False
    return True


def context_of(options: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> str:
    """Return the name of the kubeconfig's context that `connect` uses; empty if it uses none."""
    options = with_environment(options, os.environ if environment is None else environment)
    context = options.get("context")
    if _is_complete(options) or not (options.get("kubeconfig") or context or not _is_in_cluster(Configuration())):
        return ""
    found = None if context else _contexts(options)
    return str(context or (found[1] if found else None) or "")


def _place(options: Mapping[str, Any]) -> str:
    """Return the path of the specified kubeconfig, which the client's message does not contain."""
    kubeconfig = options.get("kubeconfig")
    return f"{kubeconfig}: " if isinstance(kubeconfig, str) else ""


def _about_context(options: Mapping[str, Any]) -> str | None:
    """Return the problem of the context; None if the problem is another one, or the kubeconfig cannot be read."""
    found = _contexts(options)
    if found is None:
        return None
    known, current = found
    specified = options.get("context")
    if (specified or current) in known:
        return None
    choice = f"its contexts are: {', '.join(map(str, known))}" if known else "it has no contexts"
    if specified:
        return f"context (K8S_AUTH_CONTEXT) is {specified}, but the kubeconfig has no context of that name; {choice}"
    problem = f"'s current-context {current} is not one of its contexts" if current else " has no current-context"
    return f"context (K8S_AUTH_CONTEXT) is not set, and the kubeconfig{problem}; {choice}"


def _contexts(options: Mapping[str, Any]) -> tuple[list[str], str | None] | None:
    """Return the names of the contexts of the (merged) kubeconfig, and the current one; None if it is unreadable."""
    kubeconfig = options.get("kubeconfig")
    try:
        if not isinstance(kubeconfig, Mapping):
            path = kubeconfig or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
            kubeconfig = kube_config.KubeConfigMerger(path).config.value
        found = [getattr(each, "value", each) for each in kubeconfig.get("contexts") or ()]
        return [each["name"] for each in found], kubeconfig.get("current-context")
    except (config.ConfigException, OSError, ValueError, LookupError, yaml.YAMLError, *_NO_KUBECONFIG):
        return None


def _load_kubeconfig(options: Mapping[str, Any], configuration: Configuration) -> None:
    kubeconfig, context = options.get("kubeconfig"), options.get("context")
    if isinstance(kubeconfig, Mapping):
        config.load_kube_config_from_dict(dict(kubeconfig), context=context, client_configuration=configuration)
        return
    path = os.path.expanduser(kubeconfig) if kubeconfig else None
    persist = bool(options.get("persist_config"))
    config.load_kube_config(path, context=context, client_configuration=configuration, persist_config=persist)


def _check_headers(options: Mapping[str, Any]) -> None:
    """Reject values that an HTTP header cannot contain, such as a line break after a token from a file."""
    for name in _IN_HEADERS:
        specified = options.get(name) or ()
        texts = (
            [specified]
            if isinstance(specified, str)
            else specified.values()
            if isinstance(specified, Mapping)
            else specified
        )
        if any(map(_NOT_IN_HEADERS.search, texts)):
            raise _invalid_header(name)


def _invalid_header(what: str) -> KubernetesError:
    return KubernetesError(
        "Cannot connect to a Kubernetes cluster: a line break or another character that an HTTP header cannot contain. "
        f"Set {what} to a string without it."
    )


def _ssl_context(configuration: Configuration) -> ssl.SSLContext:
    """Return the context with the certificates, whose files are read once; KubernetesError names file and option."""
    verify = ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE
    context = create_urllib3_context(cert_reqs=verify)
    authority, certificate, key = configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file
    try:
        if authority:
            context.load_verify_locations(authority)
        else:
            context.load_default_certs()
    except (OSError, ValueError) as error:
        raise KubernetesError(
            f"Cannot connect to a Kubernetes cluster: {authority}: {error}. Set ca_cert (K8S_AUTH_SSL_CA_CERT), or the "
            "kubeconfig's certificate-authority, to a readable file of certificates (PEM)."
        ) from error
    try:
        if certificate:
            # An empty password prevents a prompt for the password of an encrypted key.
            context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        raise KubernetesError(
            f"Cannot connect to a Kubernetes cluster: {' and '.join(filter(None, (certificate, key)))}: {error}. "
            "Set client_cert (K8S_AUTH_CERT_FILE) and client_key (K8S_AUTH_KEY_FILE), or the kubeconfig's "
            "client-certificate and client-key, to readable files of a certificate and its key (PEM, not encrypted)."
        ) from error
    return context


def _transport(configuration: Configuration, context: ssl.SSLContext | None) -> Transport:
    """Return the client's connection pool, which needs no file any more; KubernetesError if the proxy is invalid."""
    try:
        pool = RESTClientObject(configuration).pool_manager
    except (urllib3.exceptions.HTTPError, ImportError, ValueError):
        # Their message may contain the password.
        raise KubernetesError(
            "Cannot connect to a Kubernetes cluster: the proxy is invalid. Set proxy (K8S_AUTH_PROXY), or the "
            "kubeconfig's proxy-url, to a URL with its scheme, such as http://proxy.example.com:3128; socks5:// needs "
            "PySocks and a version of the Python library kubernetes that supports it."
        ) from None
    if context is not None:
        arguments = pool.connection_pool_kw
        authority, _certificate, _key = (arguments.pop(name, None) for name in ("ca_certs", "cert_file", "key_file"))
        arguments["ssl_context"] = context
        if authority and pool.proxy is not None and pool.proxy.scheme == "https":
            # urllib3 does not use ssl_context for the connection to the proxy
            arguments["ca_cert_data"] = Path(authority).read_text(encoding="utf-8")
    return pool


def _authorization(configuration: Configuration) -> dict[str, str]:
    """Return the token's header; the configuration renews tokens of exec plugins and of service accounts."""
    settings: Any = configuration.auth_settings().values()
    headers = (setting for setting in settings if setting["in"] == "header" and setting["value"])
    # Like kubectl: the file of a token may end with a line break.
    return {setting["key"]: setting["value"].strip() for setting in headers}


def _parts(host: str) -> SplitResult:
    wrong = "is not a URL"
    try:
        parts = urlsplit(host)
        if host and parts.scheme not in ("http", "https"):
            # The value is not shown, since it may be the token of another option.
            wrong = "must start with https:// or http://"
        # An unescaped / in a password ends the address, so that the port is invalid. The error would quote the rest.
        elif parts.port != 0:
            return parts
    except ValueError:
        pass
    raise KubernetesError(
        f"Cannot connect to a Kubernetes cluster: the address of its API {wrong}. "
        "Set host (K8S_AUTH_HOST), or the kubeconfig's server, to one such as https://kubernetes.example.com:6443."
    )


def without_credentials(host: str) -> tuple[str, dict[str, str]]:
    """Split ``http://user:password@host`` into URL and header: ansible-operator's proxy needs the user."""
    parts = _parts(host)
    if "@" not in parts.netloc:
        return host.rstrip("/"), {}
    credentials, _at, address = parts.netloc.rpartition("@")
    user, _colon, password = credentials.partition(":")
    server = urlunsplit(parts._replace(netloc=address)).rstrip("/")
    return server, urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password)}")


def _basic_auth(options: Mapping[str, Any]) -> dict[str, str]:
    if not (options.get("username") and options.get("password")):
        return {}
    return urllib3.make_headers(basic_auth=f"{options['username']}:{options['password']}")


_PROXY_HEADERS = ("proxy_basic_auth", "basic_auth", "user_agent")


class Option(NamedTuple):
    """An option of a task: its type, its alias (also of the environment variable), the attribute that it configures."""

    type: str = "str"
    alias: str | None = None
    attribute: str | None = None
    is_secret: bool = False


OPTIONS: Mapping[str, Option] = {
    "kubeconfig": Option("raw", is_secret=True),
    "context": Option(),
    "host": Option(attribute="host"),
    "api_key": Option(is_secret=True),
    "username": Option(),
    "password": Option(is_secret=True),
    "validate_certs": Option("bool", "verify_ssl", "verify_ssl"),
    "ca_cert": Option("path", "ssl_ca_cert", "ssl_ca_cert"),
    "client_cert": Option("path", "cert_file", "cert_file"),
    "client_key": Option("path", "key_file", "key_file"),
    "proxy": Option(attribute="proxy"),
    "no_proxy": Option(attribute="no_proxy"),
    "persist_config": Option("bool"),
    "impersonate_user": Option(),
    "impersonate_groups": Option("list"),
}


def argument_spec() -> dict[str, Any]:
    """Return the argument spec of the doc fragment kubernetes.core.k8s_auth_options."""
    spec: dict[str, Any] = {name: _argument(option) for name, option in OPTIONS.items()}
    headers = {name: {"type": "str", "no_log": name != "user_agent"} for name in _PROXY_HEADERS}
    return {**spec, "proxy_headers": {"type": "dict", "options": headers}}


def _argument(option: Option) -> dict[str, Any]:
    argument: dict[str, Any] = {"type": option.type, "no_log": option.is_secret}
    if option.type == "list":
        argument["elements"] = "str"
    if option.alias:
        argument["aliases"] = [option.alias]
    return argument


def with_environment(options: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options; unset ones have the value of K8S_AUTH_* if that is set."""
    settled = dict(options)
    for name, option in OPTIONS.items():
        candidates = [f"K8S_AUTH_{each.upper()}" for each in (option.alias, name) if each]
        value = next((environment[variable] for variable in candidates if environment.get(variable)), None)
        if settled.get(name) is None and value is not None:
            settled[name] = _typed(value, option.type)
    headers = {name: environment.get(f"K8S_AUTH_PROXY_HEADERS_{name.upper()}") for name in _PROXY_HEADERS}
    specified = options.get("proxy_headers") or {}
    settled["proxy_headers"] = {name: value for name in headers if (value := specified.get(name) or headers[name])}
    return settled


def _typed(value: str, kind: str) -> Any:
    if kind == "path":
        return os.path.expanduser(os.path.expandvars(value))
    if kind == "bool":
        return value.lower() not in {"0", "false", "no"}
    if kind == "list":
        return [each for each in value.split(",") if each]
    return value
