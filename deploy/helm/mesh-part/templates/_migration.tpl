{{/*
The job that makes indexes and collections before pods of a new version start. Hooks run before the release's own objects
exist, so it brings its account, its network policy and its settings along. Of the secrets it gets those of the servers.
*/}}
{{- define "mesh-part.migrationName" -}}
{{ include "mesh-part.fullname" . }}-migration
{{- end }}

{{- define "mesh-part.migrationLabels" -}}
app.kubernetes.io/part-of: {{ include "mesh-part.mesh" . }}
app.kubernetes.io/component: {{ .Chart.Name }}-migration
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Takes {root, weight}. */}}
{{- define "mesh-part.migrationMetadata" -}}
name: {{ include "mesh-part.migrationName" .root }}
labels:
  {{- include "mesh-part.migrationLabels" .root | nindent 2 }}
annotations:
  helm.sh/hook: pre-install,pre-upgrade
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- define "mesh-part.migration" -}}
{{- if .Values.migration.enabled -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "mesh-part.migrationMetadata" (dict "root" . "weight" "-10") | nindent 2 }}
automountServiceAccountToken: false
---
{{- if .Values.networkPolicy.enabled }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "mesh-part.migrationMetadata" (dict "root" . "weight" "-10") | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/part-of: {{ include "mesh-part.mesh" . }}
      app.kubernetes.io/component: {{ .Chart.Name }}-migration
  policyTypes: [Ingress, Egress]
  egress:
    {{- include "mesh-part.dnsEgress" . | nindent 4 }}
    {{- range list "mongodb" "nats" "qdrant" }}
    {{- with get $.Values.networkPolicy . }}
    {{- include "mesh-part.serverEgress" . | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- with .Values.networkPolicy.extraEgress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
---
{{- end }}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "mesh-part.migrationMetadata" (dict "root" . "weight" "-5") | nindent 2 }}
spec:
  backoffLimit: {{ int .Values.migration.retries }}
  activeDeadlineSeconds: {{ int .Values.migration.deadlineSeconds }}
  template:
    metadata:
      labels:
        {{- include "mesh-part.migrationLabels" . | nindent 8 }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ include "mesh-part.migrationName" . }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with include "mesh-part.pullSecrets" . }}
      {{- . | trim | nindent 6 }}
      {{- end }}
      securityContext:
        {{- include "mesh-part.podSecurity" . | nindent 8 }}
      containers:
        - name: migration
          image: {{ include "mesh-part.image" . | quote }}
          imagePullPolicy: {{ .Values.global.image.pullPolicy }}
          args: [{{ .Chart.Name }}, migrate]
          securityContext:
            {{- include "mesh-part.containerSecurity" . | nindent 12 }}
          env:
            {{- range $name, $value := include "mesh-part.settings" . | fromYaml }}
            {{- if ne $name "BANK_CONFIG_FILE" }}
            - { name: {{ $name }}, value: {{ $value | quote }} }
            {{- end }}
            {{- end }}
            {{- $stores := pick .Values.secrets "mongodbUrl" "natsUrl" "qdrantApiKey" }}
            {{- include "mesh-part.secretVariables" (dict "root" . "secrets" $stores) | trim | nindent 12 }}
            {{- with .Values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          resources:
            {{- toYaml .Values.migration.resources | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 64Mi }
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
{{- end }}
