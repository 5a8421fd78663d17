// What the charts of the six parts differ in. Who calls whom stands once more in mesh-part/templates/_parts.tpl, which the
// render tests compare with this file.
import { flag, foreign, foreignList, group, list, text, texts, whole, word } from "./value-tree.mjs";

const listenHost = text("Address to listen on; `::` where pods have IPv6 addresses only.", "0.0.0.0", { minLength: 1 });

const meshToken = { key: "rpc-service-token", description: "What the parts of the mesh prove themselves to each other with." };
const natsUrl = { key: "nats-url", description: "nats://user:password@host:4222, more servers after commas." };
const mongodbUrl = { key: "mongodb-url", description: "mongodb://... The part keeps to a database of its own." };
const openaiApiKey = { key: "openai-api-key", isOptional: true, description: "Key of the OpenAI-compatible server." };

const server = (name, value) =>
  group(`Where ${name} is.`, {
    port: whole("Its port.", value, 1, 65535),
    to: foreignList("A list of NetworkPolicyPeer. Empty means anywhere, at that port."),
  });
const nats = server("NATS", 4222);
const mongodb = server("MongoDB", 27017);
const models = server("the OpenAI-compatible server, when one is used: empty `to` means public addresses", 443);

/** Ranges that are not public. Webhooks never reach them, whatever a receiver's name resolves to. */
const notPublicV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
const notPublicV6 = [
  "::/96",
  "::ffff:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
];

const rpcCallers = "Who else may call over gRPC, such as services of your own.";
const rpcService = { annotations: texts("Annotations of the service.") };

const memoryLimits = (request, limit, cpu) => ({ requests: { cpu, memory: request }, limits: { memory: limit } });

const migration = {
  enabled: flag("Whether indexes and collections are made by a hook job before pods start.", true),
  deadlineSeconds: whole("Time for all attempts together.", 600, 30, 86400),
  retries: whole("Attempts after the first.", 3, 0, 20),
  resources: foreign("Requests and limits.", memoryLimits("128Mi", "384Mi", "100m")),
};

export const parts = {
  gateway: {
    summary: "REST API of Memory Bank, translated into calls of the services",
    calls: ["auth", "bank", "memory", "reflect", "webhook"],
    config: {
      gatewayListenHost: listenHost,
      gatewayCorsOrigins: list("Origins whose pages may call the API.", [], { type: "string" }),
    },
    secrets: { rpcServiceToken: meshToken, natsUrl },
    egress: { nats },
    maxReplicas: 10,
    resources: memoryLimits("256Mi", "512Mi", "250m"),
    service: {
      type: word("Kind of the service.", "ClusterIP", ["ClusterIP", "NodePort", "LoadBalancer"]),
      port: whole("Port of the service.", 80, 1, 65535),
      annotations: texts("Annotations of the service."),
    },
    ingress: {
      enabled: flag("Whether there is one.", false),
      className: text("Class of the ingress.", ""),
      annotations: texts("Annotations of the ingress."),
      hosts: list("Host names.", [], { type: "string", minLength: 1 }),
      paths: list(
        "Paths let in, with what is below them; health and metrics stay inside.",
        ["/v1", "/version", "/openapi.json"],
        {
          type: "string",
          pattern: "^/",
        },
      ),
      tls: foreignList("Certificates: a list of {hosts, secretName}, the secrets existing ones."),
    },
    callersFromDescription: "Who may call REST. Empty means anyone who reaches the pod.",
  },
  auth: {
    summary: "Tenants and API keys of Memory Bank",
    calls: [],
    config: { rpcListenHost: listenHost },
    secrets: {
      rpcServiceToken: meshToken,
      natsUrl,
      mongodbUrl,
      authKeyPepper: { key: "auth-key-pepper", description: "Under which keys are hashed: 32 characters or more." },
      authKeyPepperPrevious: {
        key: "auth-key-pepper-previous",
        isOptional: true,
        description: "The pepper before, while keys move over.",
      },
      authBootstrapKey: {
        key: "auth-bootstrap-key",
        isOptional: true,
        description: "A well-formed key that is the first owner key of tenant `default`.",
      },
    },
    egress: { nats, mongodb },
    maxReplicas: 6,
    resources: memoryLimits("192Mi", "384Mi", "100m"),
    service: rpcService,
    migration,
    callersFromDescription: rpcCallers,
  },
  bank: {
    summary: "Banks, their configuration, directives and audit log in Memory Bank",
    calls: ["auth", "memory", "reflect", "webhook"],
    config: {
      rpcListenHost: listenHost,
      bankAuditRetentionDays: whole("Days that audit entries are kept; -1 for ever.", -1, -1, 36500),
    },
    files: {
      bankConfigFile: foreign("Upper layers of the banks' configuration: {global: {...}, tenants: {<id>: {...}}}. Empty: none."),
    },
    secrets: { rpcServiceToken: meshToken, natsUrl, mongodbUrl },
    egress: { nats, mongodb },
    maxReplicas: 6,
    resources: memoryLimits("192Mi", "384Mi", "100m"),
    service: rpcService,
    migration,
    callersFromDescription: rpcCallers,
  },
  memory: {
    summary: "Retain, consolidate and recall in Memory Bank",
    calls: ["auth", "bank"],
    config: {
      rpcListenHost: listenHost,
      qdrantUrl: text("Address of Qdrant over HTTP.", "http://qdrant:6333", { pattern: "^https?://.+" }),
      memoryRetainConcurrency: whole("Asynchronous retains worked on at once by one pod.", 2, 1, 64),
      memoryRecallIndexBytesMax: whole(
        "Memory of one pod for the recall indexes of the banks in use; the memory limit must hold it and 1 GiB more.",
        1073741824,
        16777216,
        1099511627776,
      ),
    },
    secrets: {
      rpcServiceToken: meshToken,
      natsUrl,
      mongodbUrl,
      qdrantApiKey: { key: "qdrant-api-key", isOptional: true, description: "API key of Qdrant." },
      openaiApiKey,
    },
    egress: { nats, mongodb, qdrant: server("Qdrant", 6333), models },
    maxReplicas: 12,
    resources: memoryLimits("1536Mi", "3Gi", "1"),
    service: rpcService,
    migration,
    callersFromDescription: rpcCallers,
  },
  reflect: {
    summary: "Answers and mental models of Memory Bank",
    calls: ["auth", "bank", "memory"],
    config: { rpcListenHost: listenHost },
    secrets: { rpcServiceToken: meshToken, natsUrl, mongodbUrl, openaiApiKey },
    egress: { nats, mongodb, models },
    maxReplicas: 10,
    resources: memoryLimits("256Mi", "768Mi", "250m"),
    service: rpcService,
    migration,
    callersFromDescription: rpcCallers,
  },
  webhook: {
    summary: "Webhooks of Memory Bank and their signed deliveries",
    calls: ["auth", "bank"],
    config: {
      rpcListenHost: listenHost,
      webhookAllowedHosts: list("Host names and CIDRs that may be called although their addresses are not public.", [], {
        type: "string",
      }),
      webhookDeliveryRetentionDays: whole("Days that ended deliveries are kept.", 30, 1, 3650),
      webhookResponseBodies: flag("Whether deliveries show the beginning of what receivers answered.", true),
      webhookServerUrl: text("A receiver for the events of every bank.", "", { pattern: "^(https?://.+)?$" }),
      webhookServerEventTypes: list("The events that it wants. Empty: the end of a consolidation.", [], { type: "string" }),
    },
    secrets: {
      rpcServiceToken: meshToken,
      natsUrl,
      mongodbUrl,
      webhookEncryptionKey: {
        key: "webhook-encryption-key",
        description: "32 bytes, as hexadecimal or base64, that urls, secrets and headers are encrypted with.",
      },
      webhookEncryptionKeyPrevious: {
        key: "webhook-encryption-key-previous",
        isOptional: true,
        description: "Keys used before, separated by commas.",
      },
      webhookServerSecret: { key: "webhook-server-secret", isOptional: true, description: "Signing secret of webhookServerUrl." },
    },
    egress: {
      nats,
      mongodb,
      receivers: group("Where deliveries go: public addresses, TCP.", {
        ports: list("Ports. Empty means all.", [], { type: "integer", minimum: 1, maximum: 65535 }),
        notPublicV4: list("Ranges of IPv4 that are never reached.", notPublicV4, { type: "string" }),
        notPublicV6: list("Ranges of IPv6 that are never reached.", notPublicV6, { type: "string" }),
        alsoTo: foreignList("Receivers inside, to go with config.webhookAllowedHosts. A list of NetworkPolicyPeer."),
      }),
    },
    maxReplicas: 10,
    resources: memoryLimits("192Mi", "512Mi", "250m"),
    service: rpcService,
    migration,
    callersFromDescription: rpcCallers,
  },
};
