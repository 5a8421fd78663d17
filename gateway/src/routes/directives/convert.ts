import type { Directive, UpdateDirectiveRequest } from "@memory-bank/proto/bank/v1/bank";
import type { Output } from "../../validation/schema.ts";
import { instantText } from "../instant-text.ts";
import type { directiveChange } from "./schemas.ts";

export function directiveFromProto(directive: Directive) {
  return {
    id: directive.id,
    bank_id: directive.bankId,
    name: directive.name,
    content: directive.content,
    priority: directive.priority,
    is_active: directive.isActive,
    tags: directive.tags,
    created_at: instantText(directive.createdAtUs),
    updated_at: instantText(directive.updatedAtUs),
  };
}

export function directiveChangeToProto(
  names: Pick<UpdateDirectiveRequest, "bankId" | "directiveId">,
  { is_active, tags, ...members }: Output<typeof directiveChange>,
): UpdateDirectiveRequest {
  return { ...names, ...members, isActive: is_active, tags: tags && { values: tags } };
}
