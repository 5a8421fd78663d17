import { Type } from "typebox";
import { model, optional } from "../../validation/containers.ts";
import { bool, int, str } from "../../validation/scalars.ts";
import { component, type Output } from "../../validation/schema.ts";
import { count, instant, instantOrNull, orNull } from "../answer-parts.ts";

const NAME_LENGTH_MAX = 255;
const trait = () => int({ ge: 1, le: 5 });

const disposition = model({ skepticism: trait(), literalism: trait(), empathy: trait() });

/** Members of a bank that callers write; absent ones keep their value. */
export const bankBody = model({
  name: optional(str({ maxLength: NAME_LENGTH_MAX })),
  mission: optional(str({ description: "What the bank is for" })),
  reflect_mission: optional(str({ description: "The mission; wins over `mission`" })),
  background: optional(str({ description: "Deprecated name of `mission`" })),
  disposition: optional(disposition),
  disposition_skepticism: optional(trait()),
  disposition_literalism: optional(trait()),
  disposition_empathy: optional(trait()),
  retain_mission: optional(str()),
  retain_extraction_mode: optional(str()),
  retain_custom_instructions: optional(str()),
  retain_chunk_size: optional(int()),
  retain_structured_chunk_size: optional(int()),
  enable_observations: optional(bool()),
  observations_mission: optional(str()),
  enable_temporal_retrieval: optional(bool()),
  enable_graph_retrieval: optional(bool()),
  enable_reranking: optional(bool()),
});
export type BankBody = Output<typeof bankBody>;

export const dispositionBody = model({ disposition });

export const backgroundBody = model({
  content: str(),
  update_disposition: optional(bool({ description: "Accepted, without effect" }), true),
});

const traits = Type.Object({
  skepticism: Type.Integer({ minimum: 1, maximum: 5 }),
  literalism: Type.Integer({ minimum: 1, maximum: 5 }),
  empathy: Type.Integer({ minimum: 1, maximum: 5 }),
});

export const bankProfile = component(
  "BankProfile",
  Type.Object({
    bank_id: Type.String(),
    name: Type.String(),
    mission: Type.String(),
    disposition: traits,
    background: Type.String({ description: "The mission, for older clients" }),
  }),
);

export const bankList = Type.Object({
  banks: Type.Array(
    component(
      "BankListItem",
      Type.Object({
        bank_id: Type.String(),
        name: Type.String(),
        disposition: traits,
        mission: Type.String(),
        created_at: instant,
        updated_at: instant,
        fact_count: count,
        last_document_at: instantOrNull,
        last_write_at: instantOrNull,
      }),
    ),
  ),
  total: count,
  limit: count,
  offset: count,
});

export const mergedBackground = Type.Object({ mission: Type.String(), background: Type.String(), disposition: orNull(traits) });
