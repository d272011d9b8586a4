# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prepare a home directory in which ansible-test works with only the configured package index.

Usage: ansible_test_home.py HOME   (run it with the Python that has ansible-test)

ansible-test passes only HOME and PATH to pip, and downloads the script that installs pip itself. Therefore pip's
configuration, from any source, is written into this private home directory, and a script that installs the pip
bundled with Python is stored in the cache that ansible-test reads before it downloads.
"""

from __future__ import annotations

import argparse
import ast
import configparser
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

GET_PIP = Path(__file__).with_name("get_pip.py")
PROXY = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    home = parser.parse_args().home
    write_private(home / ".config" / "pip" / "pip.conf", pip_configuration())
    for version in pip_versions():
        target = home / ".ansible" / "test" / "cache" / f"get_pip_{version.replace('.', '_')}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(GET_PIP, target)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read: an index's address may hold a password."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def pip_configuration() -> str:
    """Return a pip.conf with the settings of pip's files and of the environment."""
    parser = configparser.RawConfigParser()
    for (section, option), value in sorted(settings().items()):
        if not parser.has_section(section):
            parser.add_section(section)
        parser.set(section, option, value)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


def settings() -> dict[tuple[str, str], str]:
    """Return pip's settings by section and name; the environment takes precedence over files, as in pip."""
    found = dict(implied_by_environment())
    from_environment: dict[tuple[str, str], str] = {}
    for line in pip_config_list():
        name, quoted = line.split("=", maxsplit=1)
        section, option = name.rsplit(".", maxsplit=1)
        target = from_environment if section == ":env:" else found
        target["global" if section == ":env:" else section, option] = ast.literal_eval(quoted)
    return found | from_environment


def pip_config_list() -> list[str]:
    """Return the lines of `pip config list`."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def implied_by_environment() -> list[tuple[tuple[str, str], str]]:
    """Return the environment variables that pip uses but does not list as configuration."""
    proxy = next((os.environ[name] for name in PROXY if os.environ.get(name)), None)
    certificates = next((os.environ[name] for name in CERTIFICATES if os.environ.get(name)), None)
    pairs = [(("global", "proxy"), proxy), (("global", "cert"), certificates)]
    return [(key, value) for key, value in pairs if value]


def pip_versions() -> set[str]:
    """Return the versions of pip that the installed ansible-test may ask for."""
    package = importlib.util.find_spec("ansible_test")
    if package is None or package.origin is None:
        sys.exit("This Python has no ansible-test: run the script with one that has ansible-core.")
    source = Path(package.origin).with_name("_internal") / "python_requirements.py"
    versions = set(re.findall(r"\bpip='([0-9.]+)'", source.read_text(encoding="utf-8")))
    return versions or sys.exit(f"{source} no longer names a version of pip: adapt pip_versions().")


if __name__ == "__main__":
    main()
