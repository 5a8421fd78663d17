{{/*
Facts about the parts that every part needs to know of the others, as YAML: the port of each, whom it calls, and whether it
keeps stores. `models` marks those that read the settings of language models or encoders.
*/}}
{{- define "mesh-part.parts" -}}
gateway: { port: 8888, calls: [auth, bank, memory, reflect, webhook] }
auth: { port: 50052, calls: [], stores: true }
bank: { port: 50053, calls: [auth, memory, reflect, webhook], stores: true, models: true }
memory: { port: 50054, calls: [auth, bank], stores: true, models: true }
reflect: { port: 50055, calls: [auth, bank, memory], stores: true, models: true }
webhook: { port: 50056, calls: [auth, bank], stores: true }
{{- end }}

{{/*
The name that the parts of one mesh share. A chart that is installed alone takes its own name off the end of the release's; in
the umbrella it must not, since the release may be called memory-bank.
*/}}
{{- define "mesh-part.mesh" -}}
{{- $alone := ternary (.Release.Name | trimSuffix (printf "-%s" .Chart.Name)) .Release.Name (.Chart.IsRoot | default false) -}}
{{- .Values.global.meshName | default $alone | trunc 42 | trimSuffix "-" -}}
{{- end }}

{{- define "mesh-part.fullname" -}}
{{ include "mesh-part.mesh" . }}-{{ .Chart.Name }}
{{- end }}

{{- define "mesh-part.image" -}}
{{- $image := .Values.global.image -}}
{{- $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end }}

{{/* What a pod is found by; never changes in the life of a release. */}}
{{- define "mesh-part.selectorLabels" -}}
app.kubernetes.io/part-of: {{ include "mesh-part.mesh" . }}
app.kubernetes.io/component: {{ .Chart.Name }}
{{- end }}

{{- define "mesh-part.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "mesh-part.selectorLabels" . }}
{{- end }}

{{- define "mesh-part.accountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "mesh-part.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end }}

{{/* Port of REST, or of gRPC. Fixed, since the charts of the other parts count on it. */}}
{{- define "mesh-part.port" -}}
{{- int (get (include "mesh-part.parts" . | fromYaml) .Chart.Name).port -}}
{{- end }}

{{/* Port of health and metrics: that of REST itself, or the one above gRPC's by a thousand. */}}
{{- define "mesh-part.healthPort" -}}
{{- $port := int (include "mesh-part.port" .) -}}
{{- if eq .Chart.Name "gateway" }}{{ $port }}{{ else }}{{ add $port 1000 }}{{ end -}}
{{- end }}

{{/* Where a peer is reached: its headless name, which gRPC resolves to every ready pod. Takes {root, peer}. */}}
{{- define "mesh-part.peerAddress" -}}
{{- $parts := include "mesh-part.parts" .root | fromYaml -}}
{{- $name := printf "%s-%s" (include "mesh-part.mesh" .root) .peer -}}
{{- get .root.Values.peers .peer | default (printf "dns:///%s.%s.svc:%d" $name .root.Release.Namespace (int (get $parts .peer).port)) -}}
{{- end }}
