{{- define "hostint.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- /* The name of the release, followed by that of the chart unless it is in there. Suffixes are at most 18 characters. */ -}}
{{- define "hostint.fullname" -}}
{{- $name := include "hostint.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "hostint.selector" -}}
app.kubernetes.io/name: {{ include "hostint.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hostint.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "hostint.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "hostint.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "hostint.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "hostint.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "hostint.collectorName" -}}
{{- include "hostint.fullname" . }}-collector
{{- end -}}

{{- /* The collector alone has a token, and so an account of its own, if it asks the API server. */ -}}
{{- define "hostint.collectorAccount" -}}
{{- if and .Values.collector.podNames .Values.serviceAccount.create -}}
{{- include "hostint.collectorName" . -}}
{{- else -}}
{{- include "hostint.serviceAccount" . -}}
{{- end -}}
{{- end -}}

{{- define "hostint.agentPrivileges" -}}
runAsUser: 0
runAsGroup: 0
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  add:
    {{- range .Values.capabilities }}
    - {{ . }}
    {{- end }}
    {{- if .Values.legacy }}
    - SYS_ADMIN
    - SYS_RESOURCE
    {{- end }}
{{- with .Values.seccompProfile }}
seccompProfile:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.appArmorProfile }}
appArmorProfile:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "hostint.agentMounts" -}}
- name: config
  mountPath: /etc/hostint
  readOnly: true
# What is attached is held by files here, and stays when the pod ends.
- name: bpffs
  mountPath: /sys/fs/bpf
- name: state
  mountPath: /var/lib/hostint-node
- name: machine-id
  mountPath: /etc/machine-id
  readOnly: true
- name: run
  mountPath: /run
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* What switch asks for: "off", "on" or nothing. YAML reads off and on without quotes as false and true. */ -}}
{{- define "hostint.order" -}}
{{- $order := toString .Values.switch -}}
{{- get (dict "off" "off" "false" "off" "on" "on" "true" "on") $order -}}
{{- end -}}

{{- /* Runs hostint off or hostint on, before the agent does. */ -}}
{{- define "hostint.switch" -}}
{{- $root := index . 0 -}}
{{- $command := index . 1 -}}
name: switch
image: {{ include "hostint.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
args: [{{ $command | quote }}]
securityContext:
  {{- include "hostint.agentPrivileges" $root | nindent 2 }}
volumeMounts:
  {{- include "hostint.agentMounts" $root | nindent 2 }}
{{- end -}}

{{- /* The address where probes ask the agent. */ -}}
{{- define "hostint.probed" -}}
{{- $address := trimAll "[]" .Values.http.address -}}
{{- if has $address (list "0.0.0.0" "::") -}}
{{- ternary "127.0.0.1" "::1" (eq $address "0.0.0.0") -}}
{{- else -}}
{{- $address -}}
{{- end -}}
{{- end -}}

{{- define "hostint.monitored" -}}
{{- if or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}yes{{ end -}}
{{- end -}}

{{- /* Rules and dashboards look for a job that begins with hostint. */ -}}
{{- define "hostint.endpoint" -}}
port: http
path: /metrics
interval: {{ .interval }}
scrapeTimeout: {{ .scrapeTimeout }}
relabelings:
  - targetLabel: job
    replacement: hostint
  {{- with .relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* What is plainly a mistake and would only show on nodes. */ -}}
{{- define "hostint.check" -}}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- fail "serviceMonitor and podMonitor both scrape each agent: enable one of them" -}}
{{- end -}}
{{- $monitored := or .Values.metrics.service.enabled (include "hostint.monitored" .) -}}
{{- if and .Values.agent.enabled $monitored (hasPrefix "127." .Values.http.address) -}}
{{- fail "Prometheus does not reach agents on http.address 127.0.0.1 (try --set http.address=0.0.0.0)" -}}
{{- end -}}
{{- if and .Values.leaseKey.existingSecret (not (contains "/etc/hostint/lease.key" .Values.config)) -}}
{{- fail "leaseKey.existingSecret is given, and config does not use it (try lease-key = \"/etc/hostint/lease.key\" in [sink] and [source])" -}}
{{- end -}}
{{- if not (or .Values.agent.enabled .Values.collector.enabled) -}}
{{- fail "neither agent nor collector is enabled: there is nothing to install" -}}
{{- end -}}
{{- end -}}
