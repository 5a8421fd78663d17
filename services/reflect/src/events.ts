import { defineEvent } from "@memory-bank/events";
import Type from "typebox";

/** The end of a consolidation run, as this service reads it: only the members that it needs. */
export const consolidationCompleted = defineEvent(
  "consolidation.completed.v1",
  Type.Object({
    bankUid: Type.String({ minLength: 1 }),
    status: Type.String(),
    /** Tag sets of the units that the run looked at. */
    tagSets: Type.Array(Type.Array(Type.String())),
  }),
);
