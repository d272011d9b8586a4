// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
)

// command is a component of Kubernetes as this program runs it.
func command(make func() *cobra.Command) func(args []string) {
	return func(args []string) {
		os.Args = args
		os.Exit(cli.Run(make()))
	}
}
