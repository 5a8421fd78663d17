import type { TestProject } from "vitest/node";
import { provideService } from "./setup.ts";

/** Gateway and services in one process, every call between them over a gRPC socket. */
export default (project: TestProject) => provideService(project, { EMBEDDED_MESH: "grpc" });
