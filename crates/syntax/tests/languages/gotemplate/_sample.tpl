{{/* The name of the chart. */}}
{{- define "relay.heading" -}}
{{- if .Values.name -}}
{{ .Values.name }}
{{- else -}}
{{ include "relay-default" . }}
{{- end -}}
{{- end -}}

{{- define "relay-default" -}}
relay
{{- end -}}
