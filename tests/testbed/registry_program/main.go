// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// A registry of OCI artifacts in memory, with TLS and one user.
//
// registry ADDRESS CERTIFICATE KEY USER PASSWORD
package main

import (
	"crypto/subtle"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: registry ADDRESS CERTIFICATE KEY USER PASSWORD")
	}
	address, certificate, key, user, password := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	handler := authenticated(registry.New(registry.Logger(log.New(io.Discard, "", 0))), user, password)
	log.Fatal(http.ListenAndServeTLS(address, certificate, key, handler))
}

func authenticated(next http.Handler, user, password string) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		givenUser, givenPassword, _ := request.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(givenUser+":"+givenPassword), []byte(user+":"+password)) != 1 {
			response.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(response, `{"errors": [{"code": "UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(response, request)
	})
}
