// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// The status of an object, as the library kstatus computes it for Flux and other tools.
//
// kstatus < OBJECT.json
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		log.Fatal(err)
	}
	result, err := status.Compute(object)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status)
}
