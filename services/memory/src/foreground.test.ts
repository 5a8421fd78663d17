import { expect, test, vi } from "vitest";
import { createForeground } from "./foreground.ts";

test("background work waits until nobody is served, or until its patience ends", async () => {
  vi.useFakeTimers();
  try {
    const foreground = createForeground();
    await foreground.quiet(1_000);
    const call = Promise.withResolvers<string>();
    const served = foreground.serve(() => call.promise);
    const order: string[] = [];
    const patient = foreground.quiet(1_000).then(() => order.push("quiet"));
    const impatient = foreground.quiet(10).then(() => order.push("gave up"));
    await vi.advanceTimersByTimeAsync(10);
    await impatient;
    call.resolve("answer");
    expect(await served).toBe("answer");
    await patient;
    expect(order).toEqual(["gave up", "quiet"]);
    await expect(foreground.serve(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await foreground.quiet(1_000);
  } finally {
    vi.useRealTimers();
  }
});
