import { isAppError } from "@memory-bank/errors";
import { describe, expect, test } from "vitest";
import { createAllowList } from "../domain/allow-list.ts";
import { checkedDestination } from "../domain/destination-url.ts";
import { createDestinationGuard } from "./destination-guard.ts";
import { allowedDestinations, type DestinationVector, refusedDestinations } from "./destination-vectors.ts";

const nothing = createAllowList([]);

/** What becomes of a destination: refused when it is registered, refused when it is called, or the addresses to call. */
async function judged({ url, answers = [] }: DestinationVector, allow: readonly string[] = [], ownPorts: readonly number[] = []) {
  const allowList = createAllowList(allow);
  const guard = createDestinationGuard({
    allowList,
    ownPorts: () => ownPorts,
    resolve: async () => answers,
    localAddresses: () => ["192.0.2.77", "::1"],
  });
  try {
    checkedDestination(url, allowList);
  } catch (error) {
    if (isAppError(error, "WEBHOOK_URL_REFUSED")) return "refused when registered";
    throw error;
  }
  const { hostname, port, protocol } = new URL(url);
  try {
    return await guard.judge(hostname, Number(port) || (protocol === "https:" ? 443 : 80));
  } catch (error) {
    if (isAppError(error, "DESTINATION_REFUSED")) return "refused when called";
    throw error;
  }
}

describe("destinations", () => {
  test("the table of bad ones is as long as promised", () => {
    expect(refusedDestinations.length).toBeGreaterThanOrEqual(120);
  });

  test.each(refusedDestinations)("$url $answers is refused", async (vector) => {
    expect(await judged(vector)).toBe(vector.answers === undefined ? "refused when registered" : "refused when called");
  });

  test.each(allowedDestinations)("$url $answers is let through", async (vector) => {
    expect(await judged(vector)).toEqual(vector.answers ?? expect.arrayContaining([expect.any(String)]));
  });

  test("an address that came in by a name and one that is written out are judged alike, without a resolver", async () => {
    const guard = createDestinationGuard({
      allowList: nothing,
      ownPorts: () => [],
      resolve: () => Promise.reject(new Error("asked for an address")),
    });
    for (const literal of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "10.0.0.1"]) {
      await expect(guard.judge(literal, 80)).rejects.toMatchObject({ reason: "DESTINATION_REFUSED" });
    }
    expect(await guard.judge("[2606:4700:4700::1111]", 80)).toEqual(["2606:4700:4700::1111"]);
  });

  test("a refusal does not tell what a name resolved to", async () => {
    const guard = createDestinationGuard({ allowList: nothing, ownPorts: () => [], resolve: async () => ["10.11.12.13"] });
    await expect(guard.judge("internal.test", 80)).rejects.toSatisfy((error) => !String(error).includes("10.11.12.13"));
  });
});

describe("the operator's allow-list", () => {
  const loopback = { url: "http://127.0.0.1:9000/" };
  const named = { url: "http://receiver.test:9000/", answers: ["10.0.0.5"] };

  test.each([
    { allow: ["127.0.0.0/8"], vector: loopback },
    { allow: ["127.0.0.1"], vector: loopback },
    { allow: ["127.0.0.1/32"], vector: { url: "http://[::ffff:127.0.0.1]:9000/" } },
    { allow: ["::1"], vector: { url: "http://[::1]:9000/" } },
    { allow: ["fd00::/8"], vector: { url: "http://[fd12::1]:9000/" } },
    { allow: ["receiver.test"], vector: named },
    { allow: ["RECEIVER.test."], vector: named },
    { allow: ["10.0.0.0/24"], vector: named },
    { allow: [" other.test ", "", "10.0.0.5"], vector: named },
  ])("$allow opens $vector.url", async ({ allow, vector }) => {
    expect(await judged(vector, allow)).toEqual(expect.any(Array));
  });

  test.each([
    { allow: ["10.0.0.0/24"], vector: { url: "http://receiver.test/", answers: ["10.0.0.5", "10.0.1.5"] } },
    { allow: ["receiver.test"], vector: { url: "http://sub.receiver.test/", answers: ["10.0.0.5"] } },
    { allow: ["127.0.0.1"], vector: { url: "http://127.0.0.2/", answers: [] } },
    { allow: ["localhost"], vector: { url: "http://receiver.test/", answers: ["127.0.0.1"] } },
  ])("$allow does not open $vector.url", async ({ allow, vector }) => {
    expect(await judged(vector, allow)).toMatch(/^refused/);
  });

  test("ports of our own stay shut on every address of this machine, whatever is on the list", async () => {
    const everything = ["0.0.0.0/0", "::/0", "receiver.test", "localhost"];
    for (const vector of [
      loopback,
      { url: "http://127.9.9.9:9000/" },
      { url: "http://0.0.0.0:9000/" },
      { url: "http://[::1]:9000/" },
      { url: "http://[::ffff:127.0.0.1]:9000/" },
      { url: "http://192.0.2.77:9000/" },
      { url: "http://receiver.test:9000/", answers: ["192.0.2.77"] },
    ]) {
      expect(await judged(vector, everything, [8888, 9000])).toBe("refused when called");
      expect(await judged(vector, everything, [8888])).toEqual(expect.any(Array));
    }
    expect(await judged({ url: "http://8.8.8.8:9000/" }, [], [9000])).toEqual(["8.8.8.8"]);
  });

  test.each(["10.0.0.0/33", "a b", "http://receiver.test", "receiver.test:80", "*.test", "-bad.test"])(
    "%s is refused as an entry",
    (entry) => {
      expect(() => createAllowList([entry])).toThrow(expect.objectContaining({ reason: "BAD_ALLOW_LIST" }));
    },
  );
});
