{{/* The name of the chart. */}}
{{- define "relay.heading" -}}
{{- if .Values.name -}}
{{ .Values.name }}
{{- else -}}
{{ include "relay.first_title" . }}
{{- end -}}
{{- end -}}

{{- define "relay.first_title" -}}
relay
{{- end -}}
