{{/* `openaiBaseUrl` becomes OPENAI_BASE_URL. */}}
{{- define "mesh-part.variable" -}}
{{- . | snakecase | upper -}}
{{- end }}

{{/* A setting as text. Numbers of a values file arrive as floats, which would print as 1.07e+09. */}}
{{- define "mesh-part.settingText" -}}
{{- if kindIs "float64" . }}{{ printf "%.0f" . }}{{ else if kindIs "slice" . }}{{ join "," . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{/* Everything that a part is told and that is no secret, as a YAML map. Unset settings are left out. */}}
{{- define "mesh-part.settings" -}}
{{- $root := . -}}
{{- $facts := get (include "mesh-part.parts" . | fromYaml) .Chart.Name -}}
{{- $settings := dict -}}
{{- range $name, $value := .Values.global.config -}}
{{- if or $facts.models (eq $name "logLevel") -}}
{{- $_ := set $settings (include "mesh-part.variable" $name) (include "mesh-part.settingText" $value) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := .Values.config -}}
{{- $_ := set $settings (include "mesh-part.variable" $name) (include "mesh-part.settingText" $value) -}}
{{- end -}}
{{- range $facts.calls -}}
{{- $address := include "mesh-part.peerAddress" (dict "root" $root "peer" .) -}}
{{- $_ := set $settings (printf "%s_RPC_ADDRESS" (upper .)) $address -}}
{{- end -}}
{{- $prefix := ternary "GATEWAY" "RPC" (eq .Chart.Name "gateway") -}}
{{- $_ := set $settings (printf "%s_LISTEN_PORT" $prefix) (include "mesh-part.port" .) -}}
{{- if .Values.bankConfigFile -}}
{{- $_ := set $settings "BANK_CONFIG_FILE" "/etc/memory-bank/bank-config.json" -}}
{{- end -}}
{{- with .Values.global.telemetry -}}
{{- if .otlpEndpoint -}}
{{- $_ := set $settings "OTEL_EXPORTER_OTLP_ENDPOINT" .otlpEndpoint -}}
{{- $_ := set $settings "OTEL_SERVICE_NAME" (include "mesh-part.fullname" $root) -}}
{{- $_ := set $settings "OTEL_TRACES_SAMPLER" "parentbased_traceidratio" -}}
{{- $_ := set $settings "OTEL_TRACES_SAMPLER_ARG" (toString .samplingRatio) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $settings -}}
{{- if ne $value "" }}
{{ $name }}: {{ $value | quote }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Secrets as environment variables, each a reference to an existing secret. Takes {root, secrets}. */}}
{{- define "mesh-part.secretVariables" -}}
{{- $root := .root -}}
{{- range $name, $secret := .secrets }}
- name: {{ include "mesh-part.variable" $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret.name | default $root.Values.global.secretName }}
      key: {{ $secret.key }}
      {{- if $secret.optional }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}

{{- define "mesh-part.config" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "mesh-part.fullname" . }}
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
data:
  {{- include "mesh-part.settings" . | trim | nindent 2 }}
{{- if .Values.bankConfigFile }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "mesh-part.fullname" . }}-file
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
data:
  bank-config.json: {{ .Values.bankConfigFile | toJson | quote }}
{{- end }}
{{- end }}
