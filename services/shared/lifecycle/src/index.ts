export { createResources, type Resources } from "./resources.ts";
export { run } from "./run.ts";
export { PROBE_PORT_OFFSET, type Probes, type ProbesOptions, serveProbes } from "./serve-probes.ts";
export { type ClockSources, createClock, systemTimers, type TimerHandle, type Timers } from "./time.ts";
export { createVirtualTime, type VirtualTime } from "./virtual-time.ts";
