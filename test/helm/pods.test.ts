import { describe, expect, test } from "vitest";
import { callsOf, helm, type KubeObject, ofKind, only, type PartName, partNames, portOf, render } from "./helm.ts";

const storing = partNames.filter((part) => part !== "gateway");
const secretsOf: Readonly<Record<PartName, readonly string[]>> = {
  gateway: ["NATS_URL", "RPC_SERVICE_TOKEN"],
  auth: ["AUTH_BOOTSTRAP_KEY", "AUTH_KEY_PEPPER", "AUTH_KEY_PEPPER_PREVIOUS", "MONGODB_URL", "NATS_URL", "RPC_SERVICE_TOKEN"],
  bank: ["MONGODB_URL", "NATS_URL", "RPC_SERVICE_TOKEN"],
  memory: ["MONGODB_URL", "NATS_URL", "OPENAI_API_KEY", "QDRANT_API_KEY", "RPC_SERVICE_TOKEN"],
  reflect: ["MONGODB_URL", "NATS_URL", "OPENAI_API_KEY", "RPC_SERVICE_TOKEN"],
  webhook: [
    ...["MONGODB_URL", "NATS_URL", "RPC_SERVICE_TOKEN", "WEBHOOK_ENCRYPTION_KEY", "WEBHOOK_ENCRYPTION_KEY_PREVIOUS"],
    "WEBHOOK_SERVER_SECRET",
  ],
};

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean } };
}

describe.skipIf(helm === undefined)("pods of the charts", () => {
  const mesh = helm === undefined ? [] : render("memory-bank");
  const deploymentOf = (part: PartName, objects = mesh) => only(objects, "Deployment", `memory-bank-${part}`);
  const podOf = (part: PartName, objects = mesh) => deploymentOf(part, objects)["spec"].template.spec;
  const containerOf = (part: PartName, objects = mesh) => podOf(part, objects).containers[0];
  const settingsOf = (part: PartName, objects = mesh) => only(objects, "ConfigMap", `memory-bank-${part}`)["data"];

  test("the mesh is six deployments and five jobs before them", () => {
    expect(ofKind(mesh, "Deployment").map(({ metadata }) => metadata.name)).toEqual(
      partNames.map((part) => `memory-bank-${part}`),
    );
    expect(ofKind(mesh, "Job").map(({ metadata }) => metadata.name)).toEqual(
      storing.map((part) => `memory-bank-${part}-migration`),
    );
  });

  const workloads: readonly (readonly [string, (objects: readonly KubeObject[]) => KubeObject])[] = [
    ...partNames.map((part) => [part, (objects: readonly KubeObject[]) => deploymentOf(part, objects)] as const),
    ...storing.map(
      (part) =>
        [`${part} migration`, (objects: readonly KubeObject[]) => only(objects, "Job", `memory-bank-${part}-migration`)] as const,
    ),
  ];

  test.each(workloads)("%s runs under the restricted profile, with nothing to write to but /tmp", (_name, find) => {
    const pod = find(mesh)["spec"].template.spec;
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 10_001,
      runAsGroup: 10_001,
      fsGroup: 10_001,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(pod.containers).toHaveLength(1);
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod.volumes).toEqual([{ name: "tmp", emptyDir: { sizeLimit: "64Mi" } }]);
    expect(pod.containers[0].volumeMounts).toEqual([{ name: "tmp", mountPath: "/tmp" }]);
  });

  test.each(workloads)(
    "%s mounts no token, hears of no other service by injection, and has requests and a memory limit",
    (_name, find) => {
      const pod = find(mesh)["spec"].template.spec;
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC).toBeUndefined();
      const { requests, limits } = pod.containers[0].resources;
      expect(Object.keys(requests).sort()).toEqual(["cpu", "memory"]);
      expect(Object.keys(limits)).toEqual(["memory"]);
    },
  );

  test.each(partNames)("%s has its own account, whose token is not mounted either", (part) => {
    expect(podOf(part).serviceAccountName).toBe(`memory-bank-${part}`);
    expect(only(mesh, "ServiceAccount", `memory-bank-${part}`)["automountServiceAccountToken"]).toBe(false);
  });

  test.each(partNames)("%s is live, ready and started by different questions over HTTP", (part) => {
    const { livenessProbe, readinessProbe, startupProbe, ports } = containerOf(part);
    expect(livenessProbe.httpGet).toEqual({ path: "/health/live", port: "health" });
    expect(readinessProbe.httpGet).toEqual({ path: "/health/ready", port: "health" });
    expect(startupProbe.httpGet).toEqual({ path: "/health/live", port: "health" });
    const expected = part === "gateway" ? { health: 8888 } : { grpc: portOf[part], health: portOf[part] + 1_000 };
    expect(
      Object.fromEntries(ports.map((port: { name: string; containerPort: number }) => [port.name, port.containerPort])),
    ).toEqual(expected);
  });

  test.each(partNames)("%s starts its own root of the one image and is told where to listen", (part) => {
    expect(containerOf(part)).toMatchObject({ image: "memory-bank:0.1.0", args: [part] });
    const prefix = part === "gateway" ? "GATEWAY" : "RPC";
    expect(settingsOf(part)).toMatchObject({
      [`${prefix}_LISTEN_HOST`]: "0.0.0.0",
      [`${prefix}_LISTEN_PORT`]: String(portOf[part]),
      LOG_LEVEL: "info",
    });
  });

  test.each(partNames)("%s reaches every replica of those it calls through their headless names, and knows no others", (part) => {
    const addresses = Object.entries<string>(settingsOf(part)).filter(([name]) => name.endsWith("_RPC_ADDRESS"));
    const expected = callsOf[part].map((peer) => [
      `${peer.toUpperCase()}_RPC_ADDRESS`,
      `dns:///memory-bank-${peer}.mesh.svc:${portOf[peer]}`,
    ]);
    expect(Object.fromEntries(addresses)).toEqual(Object.fromEntries(expected));
  });

  test.each(partNames)("%s gets its own secrets and no others, all by reference", (part) => {
    const variables: readonly Variable[] = containerOf(part).env;
    expect(variables.map(({ name }) => name).sort()).toEqual([...secretsOf[part]].sort());
    for (const { value, valueFrom } of variables) {
      expect(value).toBeUndefined();
      expect(valueFrom?.secretKeyRef.name).toBe("memory-bank");
    }
  });

  test("what a part cannot do without is not optional", () => {
    const optional = (part: PartName) =>
      (containerOf(part).env as readonly Variable[])
        .filter(({ valueFrom }) => valueFrom?.secretKeyRef.optional)
        .map(({ name }) => name);
    expect(optional("auth")).toEqual(["AUTH_BOOTSTRAP_KEY", "AUTH_KEY_PEPPER_PREVIOUS"]);
    expect(optional("bank")).toEqual([]);
    expect(optional("webhook")).toEqual(["WEBHOOK_ENCRYPTION_KEY_PREVIOUS", "WEBHOOK_SERVER_SECRET"]);
  });

  test("no chart makes a secret, and no setting in the open looks like one", () => {
    expect(ofKind(mesh, "Secret")).toEqual([]);
    for (const { data } of ofKind(mesh, "ConfigMap")) {
      expect(Object.keys(data).filter((name) => /TOKEN|PEPPER|_KEY|SECRET|MONGODB_URL|NATS_URL/.test(name))).toEqual([]);
    }
  });

  test.each(storing)(
    "the migration of %s runs before pods change, sees the servers' secrets only, and brings what it needs along",
    (part) => {
      const name = `memory-bank-${part}-migration`;
      const job = only(mesh, "Job", name);
      expect(job.metadata.annotations).toMatchObject({ "helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "-5" });
      const { containers, serviceAccountName, restartPolicy } = job["spec"].template.spec;
      expect({ args: containers[0].args, serviceAccountName, restartPolicy }).toEqual({
        args: [part, "migrate"],
        serviceAccountName: name,
        restartPolicy: "Never",
      });
      const references = (containers[0].env as readonly Variable[])
        .filter(({ valueFrom }) => valueFrom)
        .map((variable) => variable.name);
      expect(references).toEqual(["MONGODB_URL", "NATS_URL", ...(part === "memory" ? ["QDRANT_API_KEY"] : [])]);
      for (const kind of ["ServiceAccount", "NetworkPolicy"]) {
        expect(only(mesh, kind, name).metadata.annotations).toMatchObject({ "helm.sh/hook-weight": "-10" });
      }
    },
  );

  test.each(partNames)("%s is spread over zones and nodes, by its own labels", (part) => {
    const { topologySpreadConstraints } = podOf(part);
    const keys = topologySpreadConstraints.map(({ topologyKey }: { topologyKey: string }) => topologyKey);
    expect(keys).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
    expect(topologySpreadConstraints[0].labelSelector).toEqual(deploymentOf(part)["spec"].selector);
  });

  test.each(partNames)("%s gives callers time to leave, then itself time to drain, before it is killed", (part) => {
    const { terminationGracePeriodSeconds, containers } = podOf(part);
    expect(containers[0].lifecycle.preStop).toEqual({ sleep: { seconds: 5 } });
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(5 + 10);
    expect(deploymentOf(part)["spec"].strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  test.each(partNames)("a changed setting of %s replaces its pods, and an unchanged one leaves them", (part) => {
    const checksum = (objects: readonly KubeObject[]) =>
      deploymentOf(part, objects)["spec"].template.metadata.annotations["checksum/config"];
    expect(checksum(render("memory-bank"))).toBe(checksum(mesh));
    expect(checksum(render("memory-bank", { set: ['global.config.logLevel="debug"'] }))).not.toBe(checksum(mesh));
    expect(checksum(render("memory-bank", { set: [`${part}.replicas=5`] }))).toBe(checksum(mesh));
  });

  test("large numbers, lists and empty settings arrive as the processes read them", () => {
    expect(settingsOf("memory")).toMatchObject({ MEMORY_RECALL_INDEX_BYTES_MAX: "1073741824", QDRANT_URL: "http://qdrant:6333" });
    const set = ['gateway.config.gatewayCorsOrigins=["https://a.example","https://b.example"]'];
    expect(settingsOf("gateway", render("memory-bank", { set }))["GATEWAY_CORS_ORIGINS"]).toBe(
      "https://a.example,https://b.example",
    );
    expect(settingsOf("memory")).not.toHaveProperty("LLM_MODEL");
    expect(settingsOf("webhook")["WEBHOOK_RESPONSE_BODIES"]).toBe("true");
  });

  test("model settings go to the parts that read them, telemetry to all once there is an endpoint", () => {
    const set = ['global.config.llmProvider="openai"', 'global.telemetry.otlpEndpoint="http://collector:4318"'];
    const traced = render("memory-bank", { set });
    for (const part of partNames) {
      const reads = part === "bank" || part === "memory" || part === "reflect";
      expect(settingsOf(part, traced)["LLM_PROVIDER"]).toBe(reads ? "openai" : undefined);
      expect(settingsOf(part, traced)).toMatchObject({
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
        OTEL_TRACES_SAMPLER_ARG: "0.1",
      });
      expect(settingsOf(part)).not.toHaveProperty("OTEL_EXPORTER_OTLP_ENDPOINT");
    }
  });

  test("the upper layers of the banks' configuration are a file, and change the checksum", () => {
    const layered = render("memory-bank", { set: ['bank.bankConfigFile={"global":{"retain_mission":"m"}}'] });
    expect(settingsOf("bank", layered)["BANK_CONFIG_FILE"]).toBe("/etc/memory-bank/bank-config.json");
    const file = only(layered, "ConfigMap", "memory-bank-bank-file")["data"]["bank-config.json"];
    expect(JSON.parse(file)).toEqual({ global: { retain_mission: "m" } });
    expect(containerOf("bank", layered).volumeMounts).toContainEqual({
      name: "bank-config",
      mountPath: "/etc/memory-bank",
      readOnly: true,
    });
  });
});
