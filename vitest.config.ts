import { defineConfig } from "vitest/config";

/** End-to-end files run once per mode; everything else runs once. */
const endToEnd = (name: string, setup: string) => ({
  test: {
    name,
    include: ["test/e2e/**/*.test.ts"],
    globalSetup: [`./test/modes/${setup}.ts`],
    testTimeout: 60_000,
  },
});

export default defineConfig({
  test: {
    // Two processors: more workers only take turns.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "{gateway,services,proto}/**/*.test.ts",
            "test/{cluster,kill,property,fuzz,support,docs,helm,eval}/**/*.test.ts",
          ],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      endToEnd("embedded", "setup-embedded"),
      endToEnd("embedded over gRPC", "setup-embedded-grpc"),
    ],
  },
});
