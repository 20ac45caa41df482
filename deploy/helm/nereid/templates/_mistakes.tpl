{{/* Mistakes that the schema cannot see, as they concern several values. Renders nothing. */}}
{{- define "nereid.refuseMistakes" -}}
{{- $sources := list }}
{{- range list "claim" "size" "image" }}
{{- if index $.Values.models . }}{{ $sources = append $sources (printf "models.%s" .) }}{{ end }}
{{- end }}
{{- if not $sources }}
{{- fail "No models: set models.claim (a volume claim that is there), models.size (of a new one) or models.image (an image that holds the repository)." }}
{{- else if gt (len $sources) 1 }}
{{- fail (printf "%s are set, but the models come from one place: keep one of them." (join " and " $sources)) }}
{{- end }}
{{- if regexMatch "^/|(^|/)[.][.]?(/|$)" .Values.models.folder }}
{{- fail (printf "models.folder is %q, but must be a path inside the volume, say prod/models." .Values.models.folder) }}
{{- end }}

{{- $own := dict
  "--model-repository" "models"
  "--model-store" "models"
  "--lame-duck-secs" "lameDuckSecs"
  "--exit-timeout-secs" "exitTimeoutSecs"
  "--api-key-file" "apiKeys" }}
{{- range $port := list "http" "grpc" }}
{{- range list "use-ssl" "server-cert" "server-key" }}{{ $_ := set $own (printf "--%s-%s" $port .) "tls" }}{{ end }}
{{- end }}
{{- range .Values.args }}
{{- if not (regexMatch "^--[a-z0-9-]+(=[^\n]*)?$" .) }}
{{- fail (printf "args holds %q, which is no option: write each as --name=value." .) }}
{{- end }}
{{- $option := regexFind "^[^=]*" . }}
{{- with get $own $option }}
{{- fail (printf "args holds %s, which the chart sets by itself: use the value %s." $option .) }}
{{- end }}
{{- if regexMatch "^--(http|grpc|metrics)-port$|^--allow-(http|metrics)$" $option }}
{{- fail (printf "args holds %s, but probes and services of the chart use the ports 8000, 8001 and 8002: leave it out." $option) }}
{{- end }}
{{- end }}

{{- with .Values.autoscaling }}
{{- if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
{{- fail (printf "autoscaling.minReplicas (%v) is more than autoscaling.maxReplicas (%v)." .minReplicas .maxReplicas) }}
{{- end }}
{{- if not (or .utilization .pendingRequests .targetPressure .cpuPercent) }}
{{- fail "autoscaling has nothing to scale on: set one of utilization, pendingRequests, targetPressure and cpuPercent above 0." }}
{{- end }}
{{- if and .cpuPercent (not (dig "requests" "cpu" "" $.Values.resources)) }}
{{- fail "autoscaling.cpuPercent is a part of resources.requests.cpu, which is not set." }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
