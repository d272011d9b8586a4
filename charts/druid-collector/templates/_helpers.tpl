{{- /*
Copyright (c) 2026, druidops contributors
GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/}}

{{- define "druid-collector.selectorLabels" -}}
app.kubernetes.io/name: druid-collector
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "druid-collector.labels" -}}
{{ include "druid-collector.selectorLabels" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "druid-collector.druidNamespace" -}}
{{ .Values.druid.namespace | default .Release.Namespace }}
{{- end }}

{{- /* Unique in the namespace of the cluster, where releases of several tenants have a Role: neither part has a dot. */}}
{{- define "druid-collector.roleName" -}}
{{ printf "%s.%s.pods" .Release.Namespace .Release.Name }}
{{- end }}

{{- define "druid-collector.checksums" -}}
checksum/config: {{ include "druid-collector.config" . | sha256sum }}
{{- with .Values.environmentChecksum }}
checksum/environment: {{ . | quote }}
{{- end }}
{{- end }}

{{- define "druid-collector.isHealthChecked" -}}
{{- kindIs "invalid" .Values.healthCheck | ternary (empty .Values.config) .Values.healthCheck }}
{{- end }}

{{- /*
A dollar sign is doubled: the collector replaces $NAME with an environment variable. The exporter otlp is called otlp_grpc in
newer versions, which accept both names.
*/}}
{{- define "druid-collector.pipeline" -}}
extensions:
  health_check:
    endpoint: 0.0.0.0:13133
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
      http:
        endpoint: 0.0.0.0:4318
  {{- with .Values.druid.name }}
  prometheus:
    config:
      scrape_configs:
        - job_name: druid
          scrape_interval: {{ $.Values.druid.scrapeInterval }}
          kubernetes_sd_configs:
            - role: pod
              namespaces:
                names: [{{ include "druid-collector.druidNamespace" $ | quote }}]
              selectors:
                - role: pod
                  label: {{ printf "druid_cr=%s" . | quote }}
          relabel_configs:
            - source_labels: [__meta_kubernetes_pod_phase]
              regex: Running
              action: keep
            - source_labels: [__meta_kubernetes_pod_ip]
              target_label: __address__
              replacement: "$$1:{{ int $.Values.druid.metricsPort }}"
            - source_labels: [__meta_kubernetes_namespace]
              target_label: namespace
            - source_labels: [__meta_kubernetes_pod_name]
              target_label: pod
            - source_labels: [__meta_kubernetes_pod_label_druid_cr]
              target_label: druid
            - source_labels: [__meta_kubernetes_pod_label_nodeSpecUniqueStr]
              target_label: group
  {{- end }}
processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 80
    spike_limit_percentage: 20
  batch: {}
exporters:
  prometheus:
    endpoint: 0.0.0.0:8889
  {{- if .Values.otlp.endpoint }}
  otlp:
    endpoint: {{ .Values.otlp.endpoint | quote }}
    tls:
      insecure: {{ .Values.otlp.insecure }}
  {{- else }}
  debug: {}
  {{- end }}
{{- $others := empty .Values.otlp.endpoint | ternary "debug" "otlp" }}
service:
  extensions: [health_check]
  pipelines:
    metrics:
      receivers: [otlp{{ if .Values.druid.name }}, prometheus{{ end }}]
      processors: [memory_limiter, batch]
      exporters: [prometheus{{ if .Values.otlp.endpoint }}, otlp{{ end }}]
    logs:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [{{ $others }}]
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch]
      exporters: [{{ $others }}]
{{- end }}

{{- define "druid-collector.config" -}}
{{- .Values.config | default (include "druid-collector.pipeline" .) }}
{{- end }}
