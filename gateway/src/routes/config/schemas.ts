import { Type } from "typebox";
import { jsonObject, model } from "../../validation/containers.ts";
import { component } from "../../validation/schema.ts";
import { anyObject } from "../answer-parts.ts";

export const configPatchBody = model({
  updates: jsonObject({ description: "Key to value; null removes the override" }),
});

export const bankConfig = component(
  "BankConfig",
  Type.Object({ bank_id: Type.String(), config: anyObject, overrides: anyObject }),
);
