// Values that every part's chart has. `part` is an entry of parts.mjs.
import { flag, foreign, foreignList, group, list, number, text, texts, whole, word } from "./value-tree.mjs";

const POLL_SECONDS_MAX = 300;
const REPLICAS_MAX = 200;
const NAME_63 = "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$";

/** What all parts of one mesh agree on. A values file with only `global` can be given to every chart. */
export const globalValues = {
  meshName: text(
    "Name that the parts of one mesh share; objects are called <meshName>-<part>. Empty: the release name, without -<part> at its end, so that the umbrella as `memory-bank` and single charts as `memory-bank-auth` and so on find each other.",
    "",
    { pattern: "^([a-z]([-a-z0-9]{0,40}[a-z0-9])?)?$" },
  ),
  image: group("The one image of all parts.", {
    repository: text("Where the image is, with the registry if it is not the default one.", "memory-bank", { minLength: 1 }),
    tag: text("Tag of the image. Empty: the appVersion of the chart.", ""),
    digest: text("Digest of the image, sha256:...; stronger than a tag.", "", { pattern: "^(sha256:[0-9a-f]{64})?$" }),
    pullPolicy: word("When the image is pulled.", "IfNotPresent", ["Always", "IfNotPresent", "Never"]),
    pullSecrets: list("Names of existing secrets for the registry.", [], { type: "string" }),
  }),
  secretName: text(
    "Existing secret that holds what a part's `secrets` do not take from elsewhere. The charts never make one.",
    "memory-bank",
    { minLength: 1 },
  ),
  config: group("Settings of several parts; each name is the environment variable in camel case, empty means unset.", {
    logLevel: word("Least important lines that are written.", "info", ["debug", "info", "warn", "error"]),
    llmProvider: word("Language model of memory and reflect.", "local", ["local", "openai", "none"]),
    llmModel: text("Name of the language model.", ""),
    embeddingsProvider: word("What turns text into vectors.", "local", ["local", "lexical", "openai"]),
    embeddingsModel: text("Name of the embedding model.", ""),
    openaiBaseUrl: text("Address of an OpenAI-compatible server.", "", { pattern: "^(https?://.+)?$" }),
  }),
  telemetry: group("Traces; nothing is loaded while the endpoint is empty.", {
    otlpEndpoint: text("OTLP endpoint over HTTP, such as http://collector.monitoring:4318.", "", { pattern: "^(https?://.+)?$" }),
    samplingRatio: number("Share of the traces begun here that are kept.", 0.1, 0, 1),
  }),
};

const peerList = (description) => foreignList(`${description} A list of NetworkPolicyPeer.`);

/** The values of one part's chart, in the order in which its values file shows them. */
export function partValues(part) {
  return {
    global: group("What all parts of one mesh agree on; give every chart the same.", globalValues),
    enabled: flag("Whether the umbrella chart installs this part.", true),
    config: group("Settings of this part; each name is the environment variable in camel case, empty means unset.", part.config),
    ...(part.files ?? {}),
    secrets: group(
      "Where each secret comes from: a key of an existing secret. Each becomes the environment variable of its name.",
      Object.fromEntries(Object.entries(part.secrets).map(([name, secret]) => [name, secretValues(secret)])),
    ),
    ...(part.calls.length > 0
      ? {
          peers: group(
            "Addresses of the parts that this one calls, for parts outside of this namespace; networkPolicy.extraEgress must let them through. Empty: the headless name in this namespace.",
            Object.fromEntries(part.calls.map((peer) => [peer, text(`Target of ${peer}, such as dns:///host:port.`, "")])),
          ),
        }
      : {}),
    replicas: whole("Pods, unless autoscaling decides.", 2, 1, REPLICAS_MAX),
    autoscaling: group("HorizontalPodAutoscaler on processor use; replicas is then left to it.", {
      enabled: flag("Whether there is one.", false),
      minReplicas: whole("Least pods.", 2, 1, REPLICAS_MAX),
      maxReplicas: whole("Most pods.", part.maxReplicas, 1, REPLICAS_MAX),
      targetCpuPercent: whole("Processor use, in percent of the request, that it steers to.", 70, 10, 100),
      scaleDownSeconds: whole("How long use must be lower before pods go.", 300, 0, 3600),
    }),
    disruptionBudget: group("PodDisruptionBudget; there is none while a single pod runs, since it would block every drain.", {
      enabled: flag("Whether there is one.", true),
      maxUnavailable: whole("Pods that a drain may take at a time.", 1, 1, REPLICAS_MAX),
    }),
    resources: foreign(
      "Requests and limits. There is no processor limit on purpose: throttling turns into latency.",
      part.resources,
    ),
    update: group("Rolling update: new pods become ready before old ones go.", {
      maxSurge: whole("Pods above the wanted number.", 1, 0, REPLICAS_MAX),
      maxUnavailable: whole("Pods below the wanted number.", 0, 0, REPLICAS_MAX),
    }),
    minReadySeconds: whole("How long a new pod must stay ready before it counts.", 5, 0, 600),
    preStopSeconds: whole("Pause before SIGTERM, in which callers hear that this pod goes.", 5, 0, 120),
    terminationGracePeriodSeconds: whole(
      "Time from the start of the end to SIGKILL; at least preStopSeconds and the ten seconds that a process takes to drain.",
      30,
      12,
      600,
    ),
    probes: group("Probes over HTTP: /health/live asks whether the event loop turns, /health/ready whether the store answers.", {
      startup: probe("Until it succeeds once the other two wait; a server that is down at start is waited for.", 2, 5, 90),
      liveness: probe("A pod that fails it is restarted.", 10, 5, 6),
      readiness: probe("A pod that fails it gets no calls.", 5, 3, 2),
    }),
    podSecurity: group("User of the process. The rest of the restricted profile is not up for choice.", {
      runAsUser: whole("User id of the process.", 10001, 1, 2147483647),
      runAsGroup: whole("Group id, also of mounted files.", 10001, 1, 2147483647),
    }),
    serviceAccount: group("Account of the pods. Its token is never mounted.", {
      create: flag("Whether the chart makes it.", true),
      name: text("Its name. Empty: <meshName>-<part>, or `default` when the chart makes none.", "", { pattern: NAME_63 }),
      annotations: texts("Annotations, such as a cloud role."),
    }),
    service: group("The service in front of the pods.", part.service),
    ...(part.ingress ? { ingress: group("REST from outside of the cluster.", part.ingress) } : {}),
    networkPolicy: group("Denies every connection to and from the pods but those named here and those between parts that talk.", {
      enabled: flag("Whether there is one.", true),
      callersFrom: peerList(part.callersFromDescription),
      metricsFrom: peerList("Who else may read health and metrics. The kubelet always may."),
      dnsTo: foreignList("Where names are resolved, port 53. A list of NetworkPolicyPeer; empty means anywhere.", [
        { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } },
      ]),
      ...part.egress,
      telemetryTo: peerList("Where the OTLP endpoint is, at its port. Empty means anywhere."),
      extraEgress: foreignList("Further rules. A list of NetworkPolicyEgressRule."),
    }),
    topologySpread: group("Spreading of the pods.", {
      enabled: flag("Whether pods are spread over zones and nodes.", true),
      maxSkew: whole("Most that two zones, or two nodes, may differ by.", 1, 1, 50),
      whenUnsatisfiable: word("What happens when it cannot be had.", "ScheduleAnyway", ["ScheduleAnyway", "DoNotSchedule"]),
    }),
    serviceMonitor: group("ServiceMonitor of the Prometheus operator, whose resource definition must be there.", {
      enabled: flag("Whether there is one.", false),
      intervalSeconds: whole("Time between two scrapes.", 30, 5, POLL_SECONDS_MAX),
      timeoutSeconds: whole("Time for one scrape, at most the interval.", 10, 1, POLL_SECONDS_MAX),
      labels: texts("Labels that your Prometheus selects monitors by."),
    }),
    ...(part.migration ? { migration: group("Job that prepares the stores before an install or upgrade.", part.migration) } : {}),
    extraEnv: foreignList("Further environment variables of the container. A list of EnvVar."),
    podLabels: texts("Further labels of the pods."),
    podAnnotations: texts("Further annotations of the pods."),
    nodeSelector: texts("Labels of the nodes that pods may run on."),
    tolerations: foreignList("Taints that the pods put up with. A list of Toleration."),
    affinity: foreign("Affinity of the pods."),
    priorityClassName: text("Priority class of the pods.", ""),
    // Helm adds an entry for the library chart to the merged values.
    "mesh-part": foreign("Kept for Helm; the library chart has no values."),
  };
}

function secretValues({ key, isOptional = false, description }) {
  return group(description, {
    name: text("Name of the existing secret. Empty: global.secretName.", ""),
    key: text("Key in it.", key, { minLength: 1 }),
    optional: flag("Whether the pod also starts without it.", isOptional),
  });
}

function probe(description, periodSeconds, timeoutSeconds, failureThreshold) {
  return group(description, {
    periodSeconds: whole("Time between two probes.", periodSeconds, 1, POLL_SECONDS_MAX),
    timeoutSeconds: whole("Time for one answer.", timeoutSeconds, 1, POLL_SECONDS_MAX),
    failureThreshold: whole("Failures in a row that count.", failureThreshold, 1, 600),
  });
}
