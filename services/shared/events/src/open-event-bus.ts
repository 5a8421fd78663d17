import type { Logger, Meter } from "@memory-bank/telemetry";
import type { EventBus } from "./event-bus.ts";
import { createInProcessBus } from "./in-process-bus.ts";
import { openNatsBus } from "./nats/nats-bus.ts";

export type EventBusConfig =
  | { readonly kind: "in-process" }
  | { readonly kind: "nats"; readonly url: string; readonly name: string; readonly replicas: number };

export interface OpenedBus {
  readonly bus: EventBus;
  /** Takes what shall run whenever the bus is connected again; a bus inside the process never is. */
  readonly onBusReconnect: (listener: () => void) => void;
}

/** The bus that the settings name: a server's, or one inside the process when none is given. `name` is how the server lists it. */
export function eventBusConfigOf(settings: { url: string | undefined; replicas: number }, name: string): EventBusConfig {
  const { url, replicas } = settings;
  return url === undefined ? { kind: "in-process" } : { kind: "nats", url, name, replicas };
}

/** The one switch from configuration to adapter. */
export async function openEventBus(config: EventBusConfig, deps: { log: Logger; meter?: Meter }): Promise<OpenedBus> {
  switch (config.kind) {
    case "in-process":
      return { bus: createInProcessBus(deps), onBusReconnect: () => undefined };
    case "nats": {
      const bus = await openNatsBus({ ...config, ...deps });
      return { bus, onBusReconnect: (listener) => bus.onReconnect(listener) };
    }
  }
}
