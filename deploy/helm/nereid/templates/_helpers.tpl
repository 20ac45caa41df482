{{- define "nereid.name" -}}
{{- $name := .Release.Name }}
{{- if not (contains "nereid" $name) }}{{ $name = printf "%s-nereid" $name }}{{ end }}
{{- $name | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "nereid.selector" -}}
app.kubernetes.io/name: nereid
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nereid.labels" -}}
{{ include "nereid.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "nereid.claim" -}}
{{ .Values.models.claim | default (printf "%s-models" (include "nereid.name" .)) }}
{{- end }}

{{/* The server ends at most 10 seconds after both times; 5 more are for the signal to arrive. */}}
{{- define "nereid.gracePeriod" -}}
{{ add .Values.lameDuckSecs .Values.exitTimeoutSecs 15 }}
{{- end }}

{{/* The bytes that a quantity of memory means: 1.5Gi, 500M, 1e9. */}}
{{- define "nereid.bytes" -}}
{{- $number := regexFind "^[0-9.]+(e[+]?[0-9]+)?" . }}
{{- $units := dict "" 1 "m" 0.001 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "P" 1000000000000000
  "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 }}
{{- mulf (float64 $number) (get $units (trimPrefix $number .)) | int64 }}
{{- end }}

{{/* Half of what the limit leaves beside 192 MiB, as the server itself would choose; at most 4 GiB. */}}
{{- define "nereid.inFlightBytes" -}}
{{- $left := sub (include "nereid.bytes" . | int64) 201326592 }}
{{- min 4294967296 (max 16777216 (div $left 2)) }}
{{- end }}

{{/* The server's options, one a line. */}}
{{- define "nereid.args" -}}
--model-repository=/models{{ with .Values.models.folder }}/{{ . }}{{ end }}
--lame-duck-secs={{ .Values.lameDuckSecs }}
--exit-timeout-secs={{ .Values.exitTimeoutSecs }}
{{- if .Values.apiKeys.secret }}
--api-key-file=/etc/nereid/keys/{{ .Values.apiKeys.key }}
{{- end }}
{{- if .Values.tls.secret }}
{{- range list "http" "grpc" }}
--{{ . }}-use-ssl=true
--{{ . }}-server-cert=/etc/nereid/tls/tls.crt
--{{ . }}-server-key=/etc/nereid/tls/tls.key
{{- end }}
{{- end }}
{{- $limit := dig "limits" "memory" "" .Values.resources | toString }}
{{- if and $limit (not (regexMatch "(^|\n)--max-in-flight-bytes(=|\n|$)" (join "\n" .Values.args))) }}
--max-in-flight-bytes={{ include "nereid.inFlightBytes" $limit }}
{{- end }}
{{- range .Values.args }}
{{ . }}
{{- end }}
{{- end }}

{{- define "nereid.probe" -}}
httpGet:
  path: /v2/health/{{ .route }}
  port: http
  {{- if .Values.tls.secret }}
  scheme: HTTPS
  {{- end }}
timeoutSeconds: 5
{{- end }}
