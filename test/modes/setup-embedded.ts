import type { TestProject } from "vitest/node";
import { provideService } from "./setup.ts";

export default (project: TestProject) => provideService(project, {});
