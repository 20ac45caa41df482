{{/* The specification of a pod. It meets the Pod Security level "restricted". */}}
{{- define "nereid.pod" -}}
serviceAccountName: {{ include "nereid.name" . }}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ include "nereid.gracePeriod" . }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.user }}
  runAsGroup: {{ .Values.user }}
  fsGroup: {{ .Values.user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
containers:
  - name: nereid
    image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [nereid]
    args:
      {{- range splitList "\n" (include "nereid.args" .) }}
      - {{ . | quote }}
      {{- end }}
    {{- with .Values.env }}
    env:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      - {name: http, containerPort: 8000}
      - {name: grpc, containerPort: 8001}
      - {name: metrics, containerPort: 8002}
    startupProbe:
      {{- include "nereid.probe" (dict "route" "live" "Values" .Values) | nindent 6 }}
      periodSeconds: 2
      failureThreshold: {{ div (add .Values.startupSecs 1) 2 }}
    livenessProbe:
      {{- include "nereid.probe" (dict "route" "live" "Values" .Values) | nindent 6 }}
      periodSeconds: 10
    readinessProbe:
      {{- include "nereid.probe" (dict "route" "ready" "Values" .Values) | nindent 6 }}
      periodSeconds: 2
      failureThreshold: 2
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    volumeMounts:
      - {name: models, mountPath: /models, readOnly: true}
      - {name: tmp, mountPath: /tmp}
      {{- if .Values.apiKeys.secret }}
      - {name: keys, mountPath: /etc/nereid/keys, readOnly: true}
      {{- end }}
      {{- if .Values.tls.secret }}
      - {name: tls, mountPath: /etc/nereid/tls, readOnly: true}
      {{- end }}
      {{- with .Values.volumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: models
    {{- if .Values.models.image }}
    image: {reference: {{ .Values.models.image | quote }}, pullPolicy: {{ .Values.image.pullPolicy }}}
    {{- else }}
    persistentVolumeClaim: {claimName: {{ include "nereid.claim" . }}}
    {{- end }}
  - name: tmp
    emptyDir: {}
  {{- with .Values.apiKeys.secret }}
  - name: keys
    secret: {secretName: {{ . }}, defaultMode: 0440}
  {{- end }}
  {{- with .Values.tls.secret }}
  - name: tls
    secret: {secretName: {{ . }}, defaultMode: 0440}
  {{- end }}
  {{- with .Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "nereid.selector" . | nindent 8 }}
{{- range $name := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $.Values $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
