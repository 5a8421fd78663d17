{{/* Security of a pod: the restricted profile of the Pod Security Standards. */}}
{{- define "mesh-part.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ int .Values.podSecurity.runAsUser }}
runAsGroup: {{ int .Values.podSecurity.runAsGroup }}
fsGroup: {{ int .Values.podSecurity.runAsGroup }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "mesh-part.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "mesh-part.pullSecrets" -}}
{{- with .Values.global.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Takes {probe, path}. */}}
{{- define "mesh-part.probe" -}}
httpGet:
  path: {{ .path }}
  port: health
periodSeconds: {{ int .probe.periodSeconds }}
timeoutSeconds: {{ int .probe.timeoutSeconds }}
failureThreshold: {{ int .probe.failureThreshold }}
{{- end }}

{{- define "mesh-part.spread" -}}
{{- $root := . -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ . }}
  maxSkew: {{ int $root.Values.topologySpread.maxSkew }}
  whenUnsatisfiable: {{ $root.Values.topologySpread.whenUnsatisfiable }}
  labelSelector:
    matchLabels:
      {{- include "mesh-part.selectorLabels" $root | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}

{{- define "mesh-part.deployment" -}}
{{- $drain := 10 -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add (int .Values.preStopSeconds) $drain) -}}
{{- fail (printf "%s: terminationGracePeriodSeconds must be at least preStopSeconds and %d more" .Chart.Name $drain) -}}
{{- end -}}
{{- if and (eq (int .Values.update.maxSurge) 0) (eq (int .Values.update.maxUnavailable) 0) -}}
{{- fail (printf "%s: update.maxSurge and update.maxUnavailable cannot both be 0" .Chart.Name) -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "mesh-part.fullname" . }}
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ int .Values.replicas }}
  {{- end }}
  minReadySeconds: {{ int .Values.minReadySeconds }}
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      {{- include "mesh-part.selectorLabels" . | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: {{ int .Values.update.maxSurge }}
      maxUnavailable: {{ int .Values.update.maxUnavailable }}
  template:
    metadata:
      labels:
        {{- with .Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- include "mesh-part.labels" . | nindent 8 }}
      annotations:
        {{- with .Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        checksum/config: {{ include "mesh-part.config" . | sha256sum }}
    spec:
      serviceAccountName: {{ include "mesh-part.accountName" . }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }}
      {{- with include "mesh-part.pullSecrets" . }}
      {{- . | trim | nindent 6 }}
      {{- end }}
      securityContext:
        {{- include "mesh-part.podSecurity" . | nindent 8 }}
      {{- with .Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name }}
          image: {{ include "mesh-part.image" . | quote }}
          imagePullPolicy: {{ .Values.global.image.pullPolicy }}
          args: [{{ .Chart.Name }}]
          securityContext:
            {{- include "mesh-part.containerSecurity" . | nindent 12 }}
          ports:
            {{- if eq .Chart.Name "gateway" }}
            # REST, health and metrics share it.
            - { name: health, containerPort: {{ include "mesh-part.healthPort" . }}, protocol: TCP }
            {{- else }}
            - { name: grpc, containerPort: {{ include "mesh-part.port" . }}, protocol: TCP }
            - { name: health, containerPort: {{ include "mesh-part.healthPort" . }}, protocol: TCP }
            {{- end }}
          envFrom:
            - configMapRef:
                name: {{ include "mesh-part.fullname" . }}
          env:
            {{- include "mesh-part.secretVariables" (dict "root" . "secrets" .Values.secrets) | trim | nindent 12 }}
            {{- with .Values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          lifecycle:
            preStop:
              sleep:
                seconds: {{ int .Values.preStopSeconds }}
          startupProbe:
            {{- include "mesh-part.probe" (dict "probe" .Values.probes.startup "path" "/health/live") | nindent 12 }}
          livenessProbe:
            {{- include "mesh-part.probe" (dict "probe" .Values.probes.liveness "path" "/health/live") | nindent 12 }}
          readinessProbe:
            {{- include "mesh-part.probe" (dict "probe" .Values.probes.readiness "path" "/health/ready") | nindent 12 }}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- if .Values.bankConfigFile }}
            - { name: bank-config, mountPath: /etc/memory-bank, readOnly: true }
            {{- end }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 64Mi }
        {{- if .Values.bankConfigFile }}
        - name: bank-config
          configMap:
            name: {{ include "mesh-part.fullname" . }}-file
        {{- end }}
      {{- if .Values.topologySpread.enabled }}
      topologySpreadConstraints:
        {{- include "mesh-part.spread" . | trim | nindent 8 }}
      {{- end }}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
