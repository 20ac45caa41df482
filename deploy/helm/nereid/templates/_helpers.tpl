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
