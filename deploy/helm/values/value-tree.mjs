// A chart's values as a tree whose every leaf has a description, a default and a shape. One tree gives both files that Helm
// reads, so that no value is undescribed and the schema cannot disagree with the defaults.

const COMMENT_WIDTH = 110;

/** Text; `pattern` is for the whole value. */
export const text = (description, value = "", limits = {}) => leaf(description, value, { type: "string", ...limits });

/** One word out of several. */
export const word = (description, value, words) => leaf(description, value, { type: "string", enum: words });

/** A whole number from `minimum` to `maximum`, both included. */
export const whole = (description, value, minimum, maximum) => leaf(description, value, { type: "integer", minimum, maximum });

export const number = (description, value, minimum, maximum) => leaf(description, value, { type: "number", minimum, maximum });

export const flag = (description, value) => leaf(description, value, { type: "boolean" });

export const list = (description, value, items) => leaf(description, value, { type: "array", items });

/** Texts by names that the operator chooses. */
export const texts = (description, value = {}) =>
  leaf(description, value, { type: "object", additionalProperties: { type: "string" } });

/** An object of the Kubernetes API, or another one that somebody else defines; it is passed on as it stands. */
export const foreign = (description, value = {}) => leaf(description, value, { type: "object" });

export const foreignList = (description, value = []) => leaf(description, value, { type: "array", items: { type: "object" } });

/** Named values that belong together; no other names are accepted. */
export const group = (description, members) => ({ kind: "group", description, members });

/** The values of another chart, which that chart's own schema checks. */
export const subchart = (description, members) => ({ kind: "group", description, members, isOpen: true });

function leaf(description, value, schema) {
  return { kind: "leaf", description, value, schema };
}

/** The values file: defaults, each below its description. */
export function renderValues(header, members) {
  return `${comment(header, "")}${renderMembers(members, "")}`;
}

function renderMembers(members, indent) {
  const separator = indent === "" ? "\n" : "";
  return Object.entries(members)
    .map(([name, node]) => {
      const head = `${separator}${comment(node.description, indent)}${indent}${name}:`;
      return node.kind === "leaf"
        ? `${head} ${JSON.stringify(node.value)}\n`
        : `${head}\n${renderMembers(node.members, `${indent}  `)}`;
    })
    .join("");
}

function comment(description, indent) {
  const lines = [[]];
  let width = indent.length + 1;
  for (const part of description.split(" ")) {
    if (width + part.length + 1 > COMMENT_WIDTH) {
      lines.push([]);
      width = indent.length + 1;
    }
    lines.at(-1).push(part);
    width += part.length + 1;
  }
  return lines.map((words) => `${indent}# ${words.join(" ")}\n`).join("");
}

/** The JSON schema that Helm checks the merged values against. */
export function renderSchema(title, members) {
  const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", title, ...objectSchema(members, false) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectSchema(members, isOpen) {
  const properties = Object.entries(members).map(([name, node]) => [
    name,
    node.kind === "leaf"
      ? { description: node.description, ...node.schema }
      : { description: node.description, ...objectSchema(node.members, node.isOpen === true) },
  ]);
  return { type: "object", additionalProperties: isOpen, properties: Object.fromEntries(properties) };
}
