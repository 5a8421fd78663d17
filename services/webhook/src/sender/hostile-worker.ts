import { parentPort, workerData } from "node:worker_threads";
import { hostileBehaviours, startRawReceiver } from "./hostile-receivers.ts";

// Hostile receivers in a thread of their own, for measurements that their own work would disturb.
const kinds = Object.values(hostileBehaviours);
const { count } = workerData as { readonly count: number };
const receivers = await Promise.all(Array.from({ length: count }, (_, index) => startRawReceiver(kinds[index % kinds.length]!)));
parentPort!.postMessage(receivers.map(({ port }) => port));
