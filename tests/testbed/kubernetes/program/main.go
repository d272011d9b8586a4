// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// One program for every component of the test control plane: one link step, shared pages.
// The component is named by argv[0] or by the first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// components is filled by the init functions of the files beside this one; which of them take part in a build is
// decided by the builder.
var components = map[string]func(args []string){}

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args
	if _, known := components[name]; !known && len(os.Args) > 1 {
		name, args = os.Args[1], os.Args[1:]
	}
	run, known := components[name]
	if !known {
		names := make([]string, 0, len(components))
		for each := range components {
			names = append(names, each)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "which component? one of: %s\n", strings.Join(names, ", "))
		os.Exit(2)
	}
	run(args)
}
