// Picks the root that the first argument names: `gateway`, `auth`, `bank`, `memory`, `reflect`, `webhook` or `embedded`. A second
// argument, `migrate`, runs that service's migration instead. The root runs in this process, so that signals reach it.
import { existsSync } from "node:fs";

const roots = {
  gateway: "gateway",
  auth: "services/auth",
  bank: "services/bank",
  memory: "services/memory",
  reflect: "services/reflect",
  webhook: "services/webhook",
  embedded: "services/embedded",
};
const tasks = ["main", "migrate"];

const [name = "", task = "main", ...rest] = process.argv.slice(2);
const file = Object.hasOwn(roots, name) ? new URL(`../../${roots[name]}/src/${task}.ts`, import.meta.url) : undefined;
if (file === undefined || !tasks.includes(task) || rest.length > 0 || !existsSync(file)) {
  console.error(`Usage: one of ${Object.keys(roots).join(", ")}; after a service that has a store, optionally: migrate`);
  process.exit(64);
}
await import(file.href);
