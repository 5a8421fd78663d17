import { BlockList } from "node:net";
import { describe, expect, test } from "vitest";
import { callsOf, helm, type KubeObject, ofKind, only, type PartName, partNames, portOf, render } from "./helm.ts";

interface Peer {
  readonly podSelector?: { readonly matchLabels: Record<string, string> };
  readonly namespaceSelector?: unknown;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface Rule {
  readonly ports?: readonly { readonly protocol: string; readonly port?: number }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

const podsOf = (part: PartName): Peer => ({
  podSelector: { matchLabels: { "app.kubernetes.io/part-of": "memory-bank", "app.kubernetes.io/component": part } },
});
const portsOf = (rule: Rule) => (rule.ports ?? []).map(({ port }) => port);

describe.skipIf(helm === undefined)("network of the charts", () => {
  const mesh = helm === undefined ? [] : render("memory-bank");
  const production = helm === undefined ? [] : render("memory-bank", { examples: ["production"] });
  const specOf = (part: PartName, objects = mesh) => only(objects, "NetworkPolicy", `memory-bank-${part}`)["spec"];
  const egressOf = (part: PartName, objects = mesh): readonly Rule[] => specOf(part, objects).egress;
  const ingressOf = (part: PartName, objects = mesh): readonly Rule[] => specOf(part, objects).ingress;

  test.each(partNames)("the pods of %s are under a policy for both directions", (part) => {
    const { podSelector, policyTypes } = specOf(part);
    expect(policyTypes).toEqual(["Ingress", "Egress"]);
    expect(podSelector).toEqual(only(mesh, "Deployment", `memory-bank-${part}`)["spec"].selector);
  });

  test.each(partNames.filter((part) => part !== "gateway"))("%s is called by its callers alone", (part) => {
    const callers = partNames.filter((caller) => callsOf[caller].includes(part));
    expect(ingressOf(part)).toEqual([{ ports: [{ protocol: "TCP", port: portOf[part] }], from: callers.map(podsOf) }]);
  });

  test.each(partNames)("%s calls those that it has to, and no other part", (part) => {
    const toParts = egressOf(part).filter(({ to }) => to?.some(({ podSelector }) => podSelector));
    const expected = callsOf[part].map((peer) => ({ ports: [{ protocol: "TCP", port: portOf[peer] }], to: [podsOf(peer)] }));
    expect(toParts).toEqual(expected);
  });

  test("anyone may call the gateway until callers are named", () => {
    expect(ingressOf("gateway")).toEqual([{ ports: [{ protocol: "TCP", port: 8888 }] }]);
    expect(ingressOf("gateway", production)[0]?.from).toHaveLength(2);
  });

  const serversOf: Readonly<Record<PartName, readonly number[]>> = {
    gateway: [4222],
    auth: [27017, 4222],
    bank: [27017, 4222],
    memory: [27017, 4222, 6333],
    reflect: [27017, 4222],
    webhook: [27017, 4222],
  };
  test.each(partNames)("%s reaches the servers that it uses, and in production only where they are", (part) => {
    const servers = (objects: readonly KubeObject[]) =>
      egressOf(part, objects).filter((rule) => [27017, 4222, 6333].includes(portsOf(rule)[0] ?? 0));
    expect(servers(mesh).flatMap(portsOf)).toEqual(serversOf[part]);
    const data = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "data" } } };
    expect(servers(production).map(({ to }) => to)).toEqual(serversOf[part].map(() => [data]));
  });

  test.each(partNames)("%s resolves names in kube-system and nowhere else", (part) => {
    const dns = egressOf(part).filter((rule) => portsOf(rule).includes(53));
    expect(dns).toHaveLength(1);
    expect(dns[0]?.to).toEqual([{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }]);
  });

  test("only webhook sends to addresses that others choose, and only to public ones", () => {
    const open = partNames.filter((part) => egressOf(part).some(({ to }) => to?.some(({ ipBlock }) => ipBlock)));
    expect(open).toEqual(["webhook"]);
    const peers = egressOf("webhook").flatMap(({ to }) => to ?? []);
    expect(peers.flatMap(({ ipBlock }) => ipBlock?.cidr ?? [])).toEqual(["0.0.0.0/0", "::/0"]);
  });

  const inside = [
    "10.1.2.3",
    "172.20.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "127.0.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
  ];
  const inside6 = ["::1", "fd00:ec2::254", "fe80::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "ff02::1"];
  test.each([...inside, ...inside6])("a delivery cannot reach %s", (address) => {
    expect(isReached(address)).toBe(false);
  });
  test.each(["93.184.215.14", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::8a"])(
    "a delivery reaches %s",
    (address) => {
      expect(isReached(address)).toBe(true);
    },
  );

  /** Whether one of webhook's blocks of addresses lets the address through. */
  function isReached(address: string): boolean {
    const family = address.includes(":") ? "ipv6" : "ipv4";
    const blocks = egressOf("webhook").flatMap(({ to }) => to?.flatMap(({ ipBlock }) => ipBlock ?? []) ?? []);
    return blocks
      .filter(({ cidr }) => cidr.includes(":") === (family === "ipv6"))
      .some(({ except = [] }) => !blockListOf(except).check(address, family));
  }

  test("receivers inside are reached when they are named", () => {
    const rule = egressOf("webhook", production).find(({ to }) => to?.some(({ ipBlock }) => ipBlock?.cidr === "0.0.0.0/0"));
    expect(rule?.to).toContainEqual({ ipBlock: { cidr: "10.20.0.0/24" } });
    expect(rule?.ports).toEqual([{ protocol: "TCP", port: 443 }]);
  });

  test("the model server is reached by memory and reflect, when one is used", () => {
    const users = partNames.filter((part) => egressOf(part, production).some((rule) => portsOf(rule).includes(443)));
    expect(users).toEqual(["memory", "reflect", "webhook"]);
  });

  test.each(partNames)("%s sends its traces to the collector at the port of its address", (part) => {
    const monitoring = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }];
    expect(egressOf(part, production)).toContainEqual({ ports: [{ protocol: "TCP", port: 4318 }], to: monitoring });
  });

  test.each([
    ["http://collector", 80],
    ["https://collector/v1", 443],
    ["http://collector.ns.svc:4317", 4317],
  ])("the collector at %s is at port %i", (endpoint, port) => {
    const traced = render("auth", { release: "memory-bank-auth", set: [`global.telemetry.otlpEndpoint="${endpoint}"`] });
    expect(egressOf("auth", traced).at(-1)).toEqual({ ports: [{ protocol: "TCP", port }] });
  });

  test("Prometheus reads metrics where it is let in", () => {
    const monitoring = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }];
    expect(ingressOf("bank", production)).toContainEqual({ ports: [{ protocol: "TCP", port: 51_053 }], from: monitoring });
    const monitors = ofKind(production, "ServiceMonitor");
    expect(monitors.map(({ spec }) => spec.endpoints[0].port)).toEqual(
      partNames.map((part) => (part === "gateway" ? "http" : "health")),
    );
    for (const monitor of monitors) {
      expect(monitor.metadata.labels).toMatchObject({ release: "prometheus" });
      const service = only(production, "Service", monitor.metadata.name);
      expect(service.metadata.labels).toMatchObject(monitor["spec"].selector.matchLabels);
    }
    expect(ofKind(mesh, "ServiceMonitor")).toEqual([]);
  });

  test("without policies there is none, of the migrations neither", () => {
    const set = partNames.map((part) => `${part}.networkPolicy.enabled=false`);
    expect(ofKind(render("memory-bank", { set }), "NetworkPolicy")).toEqual([]);
  });
});

function blockListOf(ranges: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const range of ranges) {
    const [address, bits] = range.split("/");
    blocks.addSubnet(address!, Number(bits), range.includes(":") ? "ipv6" : "ipv4");
  }
  return blocks;
}
