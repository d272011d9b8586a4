# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A private certificate authority for one Druid, created for every start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
    serialize_key_and_certificates,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ..private_file import private

ALIAS = "druid"


@dataclass(frozen=True)
class Certificates:
    """The files: PEM for clients, PKCS 12 stores for Druid."""

    directory: Path

    @property
    def authority(self) -> Path:
        """The certificate of the authority."""
        return self.directory / "ca.crt"

    @property
    def client_certificate(self) -> Path:
        """A certificate for a client."""
        return self.directory / "client.crt"

    @property
    def client_key(self) -> Path:
        """The key of the client's certificate."""
        return self.directory / "client.key"

    @property
    def key_store(self) -> Path:
        """The servers' certificate and key."""
        return self.directory / "server.p12"

    @property
    def trust_store(self) -> Path:
        """The authority in the format of Java."""
        return self.directory / "ca.p12"


def make_certificates(certificates: Certificates, password: str) -> None:
    """Write all files; the password is that of both stores."""
    certificates.directory.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(key)
    certificates.authority.write_bytes(authority.public_bytes(Encoding.PEM))
    encryption = BestAvailableEncryption(password.encode())
    trusted = serialize_java_truststore([PKCS12Certificate(authority, b"ca")], encryption)
    private(certificates.trust_store).write_bytes(trusted)
    server, server_key = _signed("druid", authority, key)
    store = serialize_key_and_certificates(ALIAS.encode(), server_key, server, [authority], encryption)
    private(certificates.key_store).write_bytes(store)
    client, client_key = _signed("client", authority, key)
    certificates.client_certificate.write_bytes(client.public_bytes(Encoding.PEM))
    private(certificates.client_key).write_bytes(
        client_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("testbed authority")
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    return (
        _builder("testbed authority", key.public_key())
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )


def _signed(
    name: str, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    addresses = [x509.IPAddress(IPv4Address("127.0.0.1")), x509.DNSName("localhost")]
    # Druid's servers are clients of each other
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    signer = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    certificate = (
        _builder(name, key.public_key())
        .issuer_name(authority.subject)
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(signer), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    return certificate, key


def _builder(name: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # clocks differ
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
