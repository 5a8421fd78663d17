import { type TSchema, Type } from "typebox";

/** Parts that the answers of many operations share. */

/** A member that is always there and null when it has no value. */
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ format: "date-time" });
export const instantOrNull = orNull(instant);
export const textOrNull = orNull(Type.String());
export const count = Type.Integer({ minimum: 0 });
export const counts = Type.Record(Type.String(), count);
export const texts = Type.Array(Type.String());
export const anyObject = Type.Object({}, { additionalProperties: true });
export const textMap = Type.Record(Type.String(), Type.String());

/** A page of `items` by limit and offset; `total` counts all matches. */
export const pageOf = <S extends TSchema>(item: S) =>
  Type.Object({ items: Type.Array(item), total: count, limit: count, offset: count });

/** What a deletion of several records answers. */
export const deletedAnswer = Type.Object({ success: Type.Boolean(), message: Type.String(), deleted_count: count });

/** What a deletion of one record answers. */
export const deletedStatus = Type.Object({ status: Type.Literal("deleted") });
