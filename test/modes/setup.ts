import type { TestProject } from "vitest/node";
import { startProcess } from "./process.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the started service listens, and an owner key of it. */
    readonly service: {
      readonly url: string;
      readonly rpcAddress: string;
      readonly ownerKey: string;
      readonly serviceToken: string;
    };
  }
}

/** Starts one service for all end-to-end files of a project, and stops it after them. */
export async function provideService(project: TestProject, env: Readonly<Record<string, string>>): Promise<() => Promise<void>> {
  const serviceToken = crypto.randomUUID();
  // The end-to-end tests call receivers of their own on this machine.
  const service = await startProcess({
    env: { WEBHOOK_ALLOWED_HOSTS: "127.0.0.1,localhost", RPC_SERVICE_TOKEN: serviceToken, ...env },
  });
  project.provide("service", { url: service.url, rpcAddress: service.rpcAddress, ownerKey: service.ownerKey, serviceToken });
  return async () => {
    const code = await service.stop();
    if (code !== 0) throw new Error(`the service ended with code ${code}:\n${service.output()}`);
  };
}
