import { defineEvent } from "@memory-bank/events";
import { Type } from "typebox";

/**
 * Keys were revoked for good. Holds the ids that were named in the revocation, not their children: whoever remembers
 * verified keys keeps the ids of their lineage with them and drops every one that names a revoked id.
 */
export const keyRevoked = defineEvent("key.revoked.v1", Type.Object({ keyIds: Type.Array(Type.String(), { minItems: 1 }) }));
