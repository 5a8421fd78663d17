{{/* The smaller objects around a part's pods. */}}

{{- define "mesh-part.account" -}}
{{- if .Values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "mesh-part.accountName" . }}
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}
{{- end }}

{{/* Headless: its name resolves to every ready pod, and gRPC callers take turns among them. */}}
{{- define "mesh-part.rpcService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "mesh-part.fullname" . }}
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
  {{- with .Values.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: ClusterIP
  clusterIP: None
  selector:
    {{- include "mesh-part.selectorLabels" . | nindent 4 }}
  ports:
    - { name: grpc, port: {{ include "mesh-part.port" . }}, targetPort: grpc, protocol: TCP, appProtocol: grpc }
    - { name: health, port: {{ include "mesh-part.healthPort" . }}, targetPort: health, protocol: TCP, appProtocol: http }
{{- end }}

{{- define "mesh-part.disruptionBudget" -}}
{{- $pods := ternary .Values.autoscaling.minReplicas .Values.replicas .Values.autoscaling.enabled | int -}}
{{- if and .Values.disruptionBudget.enabled (gt $pods 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "mesh-part.fullname" . }}
  labels:
    {{- include "mesh-part.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ int .Values.disruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "mesh-part.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "mesh-part.autoscaler" -}}
{{- with .Values.autoscaling -}}
{{- if .enabled -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}
{{- fail (printf "%s: autoscaling.minReplicas is above maxReplicas" $.Chart.Name) -}}
{{- end -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "mesh-part.fullname" $ }}
  labels:
    {{- include "mesh-part.labels" $ | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "mesh-part.fullname" $ }}
  minReplicas: {{ int .minReplicas }}
  maxReplicas: {{ int .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ int .targetCpuPercent }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: {{ int .scaleDownSeconds }}
{{- end }}
{{- end }}
{{- end }}

{{- define "mesh-part.serviceMonitor" -}}
{{- with .Values.serviceMonitor -}}
{{- if .enabled -}}
{{- if gt (int .timeoutSeconds) (int .intervalSeconds) -}}
{{- fail (printf "%s: serviceMonitor.timeoutSeconds is above intervalSeconds" $.Chart.Name) -}}
{{- end -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "mesh-part.fullname" $ }}
  labels:
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "mesh-part.labels" $ | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- include "mesh-part.selectorLabels" $ | nindent 6 }}
  endpoints:
    - port: {{ ternary "http" "health" (eq $.Chart.Name "gateway") }}
      path: /metrics
      interval: {{ int .intervalSeconds }}s
      scrapeTimeout: {{ int .timeoutSeconds }}s
{{- end }}
{{- end }}
{{- end }}
