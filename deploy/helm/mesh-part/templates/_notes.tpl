{{/* What to do after installing one part: wait for it, then look at it. */}}
{{- define "mesh-part.notes" -}}
{{ include "mesh-part.fullname" . }} is being rolled out. Wait for it:

  kubectl -n {{ .Release.Namespace }} rollout status deployment/{{ include "mesh-part.fullname" . }} --timeout=5m

It reads these keys of existing secrets:
{{- range $name, $secret := .Values.secrets }}
  {{ $secret.name | default $.Values.global.secretName }}/{{ $secret.key }}{{ if $secret.optional }} (may be missing){{ end }}
{{- end }}
{{- with (get (include "mesh-part.parts" . | fromYaml) .Chart.Name).calls }}

It calls {{ join ", " . }}, which have charts of their own.
{{- end }}
{{- if and .Values.serviceMonitor.enabled .Values.networkPolicy.enabled (not .Values.networkPolicy.metricsFrom) (ne .Chart.Name "gateway") }}

Attention: the network policy keeps Prometheus out until networkPolicy.metricsFrom names it.
{{- end }}
{{- end }}
