import { Type } from "typebox";
import { model, optional } from "../../validation/containers.ts";
import { bool, int } from "../../validation/scalars.ts";
import { component } from "../../validation/schema.ts";
import { instant, pageOf, texts } from "../answer-parts.ts";
import { LABEL_LENGTH_MAX, nonBlank, tagList } from "../text-parts.ts";

const name = () => nonBlank("name", { maxLength: LABEL_LENGTH_MAX });
const content = () => nonBlank("content");
const priority = () => int({ ge: -(2 ** 31), le: 2 ** 31 - 1, description: "Higher is more important" });

export const newDirective = model({
  name: name(),
  content: content(),
  priority: optional(priority(), 0),
  is_active: optional(bool(), true),
  tags: optional(tagList(), []),
});

export const directiveChange = model({
  name: optional(name()),
  content: optional(content()),
  priority: optional(priority()),
  is_active: optional(bool()),
  tags: optional(tagList()),
});

export const directive = component(
  "Directive",
  Type.Object({
    id: Type.String(),
    bank_id: Type.String(),
    name: Type.String(),
    content: Type.String(),
    priority: Type.Integer(),
    is_active: Type.Boolean(),
    tags: texts,
    created_at: instant,
    updated_at: instant,
  }),
);

export const directivePage = pageOf(directive);
