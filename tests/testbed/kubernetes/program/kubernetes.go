// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "time/tzdata" // CronJob time zones
)

func init() {
	components["etcd"] = etcdmain.Main
	components["kube-apiserver"] = command(apiserver.NewAPIServerCommand)
	components["kube-controller-manager"] = command(controllermanager.NewControllerManagerCommand)
	components["kube-scheduler"] = command(func() *cobra.Command { return scheduler.NewSchedulerCommand() })
}
