import { describe, expect, test } from "vitest";
import { helm, ofKind, only, type PartName, partNames, portOf, refusalOf, render } from "./helm.ts";

describe.skipIf(helm === undefined)("objects around the pods", () => {
  const mesh = helm === undefined ? [] : render("memory-bank");
  const minimal = helm === undefined ? [] : render("memory-bank", { examples: ["minimal"] });
  const production = helm === undefined ? [] : render("memory-bank", { examples: ["production"] });
  const external = helm === undefined ? [] : render("memory-bank", { examples: ["external-secrets"] });
  const scaled: readonly PartName[] = ["gateway", "memory", "reflect"];

  test.each(partNames.filter((part) => part !== "gateway"))("the service of %s is headless and finds its pods", (part) => {
    const { spec } = only(mesh, "Service", `memory-bank-${part}`);
    expect(spec).toMatchObject({
      clusterIP: "None",
      selector: only(mesh, "Deployment", `memory-bank-${part}`)["spec"].selector.matchLabels,
    });
    expect(spec.ports.map(({ name, port }: { name: string; port: number }) => [name, port])).toEqual([
      ["grpc", portOf[part]],
      ["health", portOf[part] + 1_000],
    ]);
  });

  test("the gateway's service has an address, and leads to REST", () => {
    const { spec } = only(mesh, "Service", "memory-bank-gateway");
    expect(spec.clusterIP).toBeUndefined();
    expect(spec).toMatchObject({ type: "ClusterIP", ports: [{ name: "http", port: 80, targetPort: "health" }] });
  });

  test.each(partNames)("a drain takes one pod of %s at a time, but is not blocked by a single pod", (part) => {
    const budget = only(mesh, "PodDisruptionBudget", `memory-bank-${part}`);
    expect(budget["spec"]).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" });
    expect(budget["spec"].selector).toEqual(only(mesh, "Deployment", `memory-bank-${part}`)["spec"].selector);
    expect(ofKind(minimal, "PodDisruptionBudget")).toEqual([]);
  });

  test.each(partNames)("either the autoscaler or the deployment of %s says how many pods there are", (part) => {
    const deployment = only(production, "Deployment", `memory-bank-${part}`);
    const autoscalers = ofKind(production, "HorizontalPodAutoscaler").filter(
      ({ metadata }) => metadata.name === `memory-bank-${part}`,
    );
    expect(autoscalers).toHaveLength(scaled.includes(part) ? 1 : 0);
    expect(deployment["spec"].replicas).toBe(scaled.includes(part) ? undefined : 3);
  });

  test("the autoscaler steers the deployment by its processor use", () => {
    expect(only(production, "HorizontalPodAutoscaler", "memory-bank-memory")["spec"]).toMatchObject({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "memory-bank-memory" },
      minReplicas: 3,
      maxReplicas: 12,
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }],
    });
  });

  test("the ingress serves the API and keeps health and metrics inside", () => {
    const { spec } = only(production, "Ingress", "memory-bank-gateway");
    expect(spec.ingressClassName).toBe("nginx");
    expect(spec.rules[0].http.paths.map(({ path }: { path: string }) => path)).toEqual(["/v1", "/version", "/openapi.json"]);
    expect(spec.tls).toEqual([{ hosts: ["memory.example.com"], secretName: "memory-example-com-tls" }]);
    expect(ofKind(mesh, "Ingress")).toEqual([]);
  });

  test.each(partNames)("with secrets from elsewhere, %s reads nothing from the shared one", (part) => {
    const { env } = only(external, "Deployment", `memory-bank-${part}`)["spec"].template.spec.containers[0];
    const names = env.map(({ valueFrom }: { valueFrom: { secretKeyRef: { name: string } } }) => valueFrom.secretKeyRef.name);
    expect(names).not.toContain("not-used");
    expect(names).toContain("memory-bank-mesh");
  });

  test("each part has a database login of its own, its migration the same one", () => {
    for (const part of ["auth", "bank", "memory", "reflect", "webhook"]) {
      const pods = [only(external, "Deployment", `memory-bank-${part}`), only(external, "Job", `memory-bank-${part}-migration`)];
      for (const { spec } of pods) {
        expect(spec.template.spec.containers[0].env).toContainEqual({
          name: "MONGODB_URL",
          valueFrom: { secretKeyRef: { name: `memory-bank-${part}-mongodb`, key: "connectionString" } },
        });
      }
    }
  });

  test("a digest is stronger than a tag, and pull secrets reach every pod", () => {
    for (const { spec } of [...ofKind(production, "Deployment"), ...ofKind(production, "Job")]) {
      expect(spec.template.spec.containers[0].image).toBe(`registry.example/memory-bank@sha256:${"0".repeat(64)}`);
      expect(spec.template.spec.imagePullSecrets).toEqual([{ name: "registry" }]);
    }
  });

  test.each(partNames)("%s alone makes the same objects as in the umbrella, so that the two can call each other", (part) => {
    const alone = render(part, { release: `memory-bank-${part}` });
    const together = mesh.filter(
      ({ metadata }) => metadata.labels["app.kubernetes.io/component"]?.replace("-migration", "") === part,
    );
    const names = (objects: typeof mesh) => objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
    expect(names(alone)).toEqual(names(together));
    expect(only(alone, "Deployment", `memory-bank-${part}`)["spec"].selector).toEqual(
      only(mesh, "Deployment", `memory-bank-${part}`)["spec"].selector,
    );
    expect(only(alone, "ConfigMap", `memory-bank-${part}`)["data"]).toEqual(
      only(mesh, "ConfigMap", `memory-bank-${part}`)["data"],
    );
  });

  test("a part that is switched off leaves nothing behind", () => {
    const without = render("memory-bank", { set: ["webhook.enabled=false"] });
    expect(without.filter(({ metadata }) => metadata.name.includes("webhook"))).toEqual([]);
    expect(ofKind(without, "Deployment")).toHaveLength(5);
  });

  test("what belongs to the operator is passed on as it stands", () => {
    const toleration = { key: "dedicated", operator: "Exists" };
    const set = [
      `auth.tolerations=[${JSON.stringify(toleration)}]`,
      'auth.nodeSelector={"disk":"ssd"}',
      'auth.priorityClassName="high"',
      'auth.podLabels={"team":"memory"}',
      'auth.podAnnotations={"note":"x"}',
      'auth.serviceAccount.annotations={"role":"r"}',
      'auth.service.annotations={"a":"b"}',
      'auth.extraEnv=[{"name":"NODE_OPTIONS","value":"--max-old-space-size=256"}]',
      'auth.affinity={"nodeAffinity":{}}',
    ];
    const objects = render("memory-bank", { set });
    const { metadata, spec } = only(objects, "Deployment", "memory-bank-auth")["spec"].template;
    expect(spec).toMatchObject({
      tolerations: [toleration],
      nodeSelector: { disk: "ssd" },
      priorityClassName: "high",
      affinity: { nodeAffinity: {} },
    });
    expect(metadata.labels["team"]).toBe("memory");
    expect(metadata.annotations["note"]).toBe("x");
    expect(spec.containers[0].env).toContainEqual({ name: "NODE_OPTIONS", value: "--max-old-space-size=256" });
    expect(only(objects, "ServiceAccount", "memory-bank-auth").metadata.annotations).toEqual({ role: "r" });
    expect(only(objects, "Service", "memory-bank-auth").metadata.annotations).toEqual({ a: "b" });
  });

  test("an account, budgets, spreading and migrations can be left to others", () => {
    const set = [
      "serviceAccount.create=false",
      "disruptionBudget.enabled=false",
      "topologySpread.enabled=false",
      "migration.enabled=false",
    ];
    const objects = render("bank", { release: "memory-bank-bank", set });
    for (const kind of ["ServiceAccount", "PodDisruptionBudget", "Job"]) expect(ofKind(objects, kind)).toEqual([]);
    const pod = only(objects, "Deployment", "memory-bank-bank")["spec"].template.spec;
    expect(pod.serviceAccountName).toBe("default");
    expect(pod.topologySpreadConstraints).toBeUndefined();
  });

  test.each([
    [["terminationGracePeriodSeconds=14"], "terminationGracePeriodSeconds must be at least"],
    [["update.maxSurge=0"], "cannot both be 0"],
    [["autoscaling.enabled=true", "autoscaling.minReplicas=9"], "minReplicas is above maxReplicas"],
    [["serviceMonitor.enabled=true", "serviceMonitor.timeoutSeconds=60"], "timeoutSeconds is above intervalSeconds"],
  ])("values that contradict each other are refused: %j", (set, message) => {
    expect(refusalOf("bank", { set })).toContain(message);
  });

  test("an ingress without a host is refused", () => {
    expect(refusalOf("gateway", { set: ["ingress.enabled=true"] })).toContain("ingress.hosts is empty");
  });
});
