import { Type } from "typebox";
import { jsonObject, list, model, optional } from "../../validation/containers.ts";
import { id, int, literal, str } from "../../validation/scalars.ts";
import { component } from "../../validation/schema.ts";
import { anyObject, instant, instantOrNull, orNull, pageOf, textOrNull, texts } from "../answer-parts.ts";
import { LABEL_LENGTH_MAX } from "../text-parts.ts";

const SCOPED_DAYS_MAX = 365;
const KEYS_LISTED = 100; // when the caller names no limit
const KEYS_LISTED_MAX = 500; // what auth answers at once: a key may name 32 KiB of banks

const name = () => str({ minLength: 1, maxLength: LABEL_LENGTH_MAX });
const bankIds = () => list(id(), { minItems: 1 });

export const newScopedKey = model({
  name: name(),
  allowed_bank_ids: bankIds(),
  expires_in_days: int({ ge: 1, le: SCOPED_DAYS_MAX }),
  metadata: optional(jsonObject(), {}),
});

export const newKey = model({
  name: name(),
  expiration: optional(literal(["never", "1h", "1d", "7d", "30d", "90d", "1y", "custom"]), "never"),
  expires_in_days: optional(int({ ge: 1, description: "With `custom` only" })),
  allowed_bank_ids: optional(bankIds()),
  capabilities: optional(list(literal(["create_scoped_keys"])), []),
  role: optional(literal(["owner", "admin", "member"]), "member"),
});

export const keyQuery = {
  status: optional(literal(["active", "revoked", "all"]), "active"),
  limit: optional(int({ ge: 0, cap: KEYS_LISTED_MAX }), KEYS_LISTED),
  offset: optional(int({ ge: 0 }), 0),
};

const keyMembers = {
  id: Type.String(),
  key_prefix: Type.String({ description: "First characters of the secret, to tell keys apart" }),
  name: Type.String(),
  parent_key_id: textOrNull,
  allowed_bank_ids: orNull(texts),
  capabilities: texts,
  role: Type.String(),
  metadata: anyObject,
  status: Type.String({ description: "active, revoked or expired" }),
  expires_at: instantOrNull,
  last_used_at: instantOrNull,
  created_at: instant,
  revoked_at: Type.Optional(instant),
};

export const keyPage = pageOf(component("ApiKey", Type.Object(keyMembers)));

export const createdKey = component(
  "CreatedApiKey",
  Type.Object({ ...keyMembers, api_key: Type.String({ description: "The secret; shown this once" }) }),
);

export const revokedKey = Type.Object({ success: Type.Literal(true), id: Type.String() });
