{{/* Pods of a part of this mesh, as a NetworkPolicyPeer. Takes {root, part}. */}}
{{- define "mesh-part.podsOf" -}}
podSelector:
  matchLabels:
    app.kubernetes.io/part-of: {{ include "mesh-part.mesh" .root }}
    app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "mesh-part.dnsEgress" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
  {{- with .Values.networkPolicy.dnsTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Takes {port, to}. */}}
{{- define "mesh-part.serverEgress" -}}
- ports:
    - { protocol: TCP, port: {{ int .port }} }
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Addresses outside of every private network, IPv4 and IPv6. Takes {v4, v6}, the ranges that are left out. */}}
{{- define "mesh-part.publicPeers" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      {{- toYaml .v4 | nindent 6 }}
- ipBlock:
    cidr: ::/0
    except:
      {{- toYaml .v6 | nindent 6 }}
{{- end }}

{{- define "mesh-part.networkPolicy" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $parts := include "mesh-part.parts" . | fromYaml -}}
{{- $own := .Chart.Name -}}
{{- $callers := list -}}
{{- range $name, $facts := $parts -}}
{{- if has $own $facts.calls }}{{ $callers = append $callers $name }}{{ end -}}
{{- end -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "mesh-part.fullname" . }}
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "mesh-part.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports:
        - { protocol: TCP, port: {{ include "mesh-part.port" . }} }
      {{- if or $callers $policy.callersFrom }}
      from:
        {{- range $callers }}
        - {{- include "mesh-part.podsOf" (dict "root" $ "part" .) | nindent 10 }}
        {{- end }}
        {{- with $policy.callersFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
    {{- with $policy.metricsFrom }}
    - ports:
        - { protocol: TCP, port: {{ include "mesh-part.healthPort" $ }} }
      from:
        {{- toYaml . | nindent 8 }}
    {{- end }}
  egress:
    {{- include "mesh-part.dnsEgress" . | nindent 4 }}
    {{- range (get $parts $own).calls }}
    - ports:
        - { protocol: TCP, port: {{ int (get $parts .).port }} }
      to:
        - {{- include "mesh-part.podsOf" (dict "root" $ "part" .) | nindent 10 }}
    {{- end }}
    {{- range list "mongodb" "nats" "qdrant" }}
    {{- with get $policy . }}
    {{- include "mesh-part.serverEgress" . | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- include "mesh-part.modelEgress" . | nindent 4 }}
    {{- include "mesh-part.receiverEgress" . | nindent 4 }}
    {{- with .Values.global.telemetry.otlpEndpoint }}
    {{- $host := (urlParse .).host }}
    {{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" | default (ternary "443" "80" (hasPrefix "https:" .)) }}
    {{- include "mesh-part.serverEgress" (dict "port" $port "to" $policy.telemetryTo) | nindent 4 }}
    {{- end }}
    {{- with $policy.extraEgress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Private ranges without the details that only matter where a hostile receiver chooses the address. */}}
{{- define "mesh-part.modelEgress" -}}
{{- $usesServer := has "openai" (list .Values.global.config.llmProvider .Values.global.config.embeddingsProvider) -}}
{{- with .Values.networkPolicy.models -}}
{{- if $usesServer -}}
- ports:
    - { protocol: TCP, port: {{ int .port }} }
  to:
    {{- if .to }}
    {{- toYaml .to | nindent 4 }}
    {{- else }}
    {{- $v4 := list "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "169.254.0.0/16" "172.16.0.0/12" "192.168.0.0/16" }}
    {{- include "mesh-part.publicPeers" (dict "v4" $v4 "v6" (list "fc00::/7" "fe80::/10")) | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "mesh-part.receiverEgress" -}}
{{- with .Values.networkPolicy.receivers -}}
- to:
    {{- include "mesh-part.publicPeers" (dict "v4" .notPublicV4 "v6" .notPublicV6) | nindent 4 }}
    {{- with .alsoTo }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    {{- range .ports }}
    - { protocol: TCP, port: {{ int . }} }
    {{- else }}
    - { protocol: TCP }
    {{- end }}
{{- end }}
{{- end }}
