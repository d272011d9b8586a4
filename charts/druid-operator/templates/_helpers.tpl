{{- /*
Copyright (c) 2026, druidops contributors
GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/}}

{{- /* Leaves 16 characters for the longest suffix: the name of a Service is limited to 63 characters. */}}
{{- define "druid-operator.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $release := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- .Values.fullnameOverride | default $release | trunc 47 | trimSuffix "-" }}
{{- end }}

{{- define "druid-operator.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (printf "%s-controller-manager" (include "druid-operator.fullname" .)) }}
{{- end }}

{{- define "druid-operator.selectorLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "druid-operator.labels" -}}
{{ include "druid-operator.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* Helm merges the values, and Kubernetes only accepts one handler: any other one replaces that of values.yaml. */}}
{{- define "druid-operator.probe" -}}
{{- $found := .probe }}
{{- range without (list "exec" "grpc" "httpGet" "tcpSocket") .default }}
{{- if index $.probe . }}
{{- $found = omit $found $.default }}
{{- end }}
{{- end }}
{{- toYaml $found }}
{{- end }}

{{- /* A JSON list; empty for all namespaces. */}}
{{- define "druid-operator.watchedNamespaces" -}}
{{- $found := list }}
{{- range tpl (.Values.env.WATCH_NAMESPACE | default "" | toString) . | splitList "," }}
{{- $found = append $found (trim .) }}
{{- end }}
{{- $found | compact | uniq | toJson }}
{{- end }}
