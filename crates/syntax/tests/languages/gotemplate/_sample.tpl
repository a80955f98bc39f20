{{/* The name of the chart. */}}
{{- define "relay.name" -}}
{{- if .Values.name -}}
{{ .Values.name }}
{{- else -}}
{{ include "relay.default" . }}
{{- end -}}
{{- end -}}

{{- define "relay.default" -}}
relay
{{- end -}}
