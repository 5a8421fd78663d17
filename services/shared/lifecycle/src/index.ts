import type { Resources } from "./resources.ts";

export type { Resources } from "./resources.ts";
export { type ClockSources, createClock, systemTimers, type TimerHandle, type Timers } from "./time.ts";
export declare function createResources(): Resources & AsyncDisposable;
export declare function run(start: (resources: Resources) => Promise<void>): Promise<void>;
