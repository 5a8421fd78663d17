import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createSecretHasher } from "./secret-hasher.ts";

const [oldPepper, newPepper] = ["old pepper of thirty-two characters", "new pepper of thirty-two characters"];

test("the hash is HMAC-SHA256 of the secret under the current pepper", () => {
  const hash = createSecretHasher({ current: newPepper, previous: oldPepper }).hash("secret");
  expect(Buffer.from(hash)).toEqual(createHmac("sha256", newPepper).update("secret").digest());
});

test("a match names the pepper under which the hash was made", () => {
  const before = createSecretHasher({ current: oldPepper });
  const during = createSecretHasher({ current: newPepper, previous: oldPepper });
  const after = createSecretHasher({ current: newPepper });
  expect(during.match("secret", before.hash("secret"))).toBe("previous");
  expect(during.match("secret", during.hash("secret"))).toBe("current");
  expect(after.match("secret", before.hash("secret"))).toBe("none");
  expect(during.match("another", before.hash("secret"))).toBe("none");
});
