// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

func init() {
	components["certificates"] = makeCertificates
}

// makeCertificates writes an authority (ca), a serving certificate (apiserver) and the key that signs service account
// tokens (sa) into the directory args[1], as NAME.crt and NAME.key.  The other arguments are the addresses of the server.
// It is here so that no openssl is needed.
func makeCertificates(args []string) {
	if len(args) < 3 {
		fail(fmt.Errorf("usage: certificates DIRECTORY ADDRESS..."))
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "testbed-ca"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, address := range args[2:] {
		server.IPAddresses = append(server.IPAddresses, net.ParseIP(address))
	}
	authorityKey := writeKey(args[1], "ca")
	issued := writeCertificate(args[1], "ca", authority, authority, authorityKey, authorityKey)
	writeCertificate(args[1], "apiserver", server, issued, writeKey(args[1], "apiserver"), authorityKey)
	writeKey(args[1], "sa")
}

func writeKey(directory, name string) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fail(err)
	der, err := x509.MarshalECPrivateKey(key)
	fail(err)
	writePEM(filepath.Join(directory, name+".key"), "EC PRIVATE KEY", der, 0o600)
	return key
}

func writeCertificate(directory, name string, template, issuer *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().AddDate(10, 0, 0)
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	fail(err)
	writePEM(filepath.Join(directory, name+".crt"), "CERTIFICATE", der, 0o644)
	issued, err := x509.ParseCertificate(der)
	fail(err)
	return issued
}

func writePEM(path, kind string, der []byte, mode os.FileMode) {
	fail(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
