/** A page that reads `/openapi.json` and lists its operations. No assets from elsewhere, so that it works offline. */

export const docsStyle = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin: 0; } h2 { margin: 2rem 0 .5rem; text-transform: capitalize; }
details { border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 6px; margin: .4rem 0; }
summary { cursor: pointer; padding: .45rem .7rem; display: flex; gap: .7rem; align-items: baseline; }
summary b { min-width: 4rem; font: 600 .8rem ui-monospace, monospace; }
summary code { overflow-wrap: anywhere; } summary span { margin-left: auto; opacity: .7; text-align: right; }
section { padding: 0 .9rem .7rem; } h3 { font-size: .85rem; margin: .9rem 0 .2rem; opacity: .7; }
table { border-collapse: collapse; width: 100%; } td { padding: .15rem .8rem .15rem 0; vertical-align: top; }
pre { overflow: auto; margin: .2rem 0; padding: .6rem; border-radius: 6px; background: color-mix(in srgb, currentColor 7%, transparent); }
`;

export const docsScript = `
const node = (tag, text, ...children) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
};

const boundsOf = (schema) => ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"]
  .filter((word) => schema[word] !== undefined)
  .map((word) => " " + word + " " + schema[word])
  .join("");

// One line for the type of a schema; its members are outlined below it.
const typeOf = (schema) => {
  const preset = schema.default === undefined ? "" : " = " + JSON.stringify(schema.default);
  if (schema.$ref) return schema.$ref.split("/").pop() + preset;
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ") + preset;
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ") + preset;
  if (schema.type === "array") return "array of " + typeOf(schema.items || {}) + boundsOf(schema) + preset;
  return (schema.type || "any") + boundsOf(schema) + preset;
};

const withMembers = (schema) => {
  if (!schema || schema.properties) return schema || undefined;
  return [...(schema.anyOf || []), schema.items, schema.additionalProperties].map(withMembers).find(Boolean);
};

const outline = (schema, indent = "") => {
  const object = withMembers(schema);
  if (!object) return indent + typeOf(schema);
  const required = new Set(object.required);
  return Object.entries(object.properties).map(([name, member]) => {
    const line = indent + name + (required.has(name) ? "" : "?") + ": " + typeOf(member);
    return withMembers(member) ? line + "\\n" + outline(member, indent + "  ") : line;
  }).join("\\n");
};

const table = (rows) => node("table", undefined, ...rows.map((cells) => node("tr", undefined, ...cells.map((cell) => node("td", cell)))));
const schemaOf = (part) => part && part.content && Object.values(part.content)[0].schema;
const heading = (text) => node("h3", text);

const operationView = (method, path, operation) => {
  const section = node("section");
  if (operation.description) section.append(node("p", operation.description));
  if (operation.parameters) {
    const rows = operation.parameters.map((one) => [one.name + (one.required ? "" : "?"), one.in, typeOf(one.schema), one.schema.description || ""]);
    section.append(heading("Parameters"), table(rows));
  }
  const body = schemaOf(operation.requestBody);
  if (body) section.append(heading("Body"), node("pre", outline(body)));
  for (const [status, response] of Object.entries(operation.responses)) {
    if (status < 300) section.append(heading("Answer " + status), node("pre", outline(schemaOf(response))));
  }
  const failures = Object.entries(operation.responses).filter(([status]) => status >= 300);
  section.append(heading("Failures"), table(failures.map(([status, response]) => [status, response.description])));
  const summary = node("summary", undefined, node("b", method.toUpperCase()), node("code", path), node("span", operation.summary));
  return node("details", undefined, summary, section);
};

const show = (api) => {
  const main = document.querySelector("main");
  main.replaceChildren(node("h1", api.info.title + " " + api.info.version), node("p", api.info.description));
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!groups.has(tag)) groups.set(tag, node("div", undefined, node("h2", tag)));
      groups.get(tag).append(operationView(method, path, operation));
    }
  }
  main.append(...groups.values(), node("h2", "schemas"));
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    main.append(node("details", undefined, node("summary", undefined, node("code", name)), node("section", undefined, node("pre", outline(schema)))));
  }
};

fetch("openapi.json").then((response) => response.json()).then(show, (error) => {
  document.querySelector("main").textContent = "The API description could not be read: " + error.message;
});
`;

export const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Memory Bank API</title>
<style>${docsStyle}</style>
</head>
<body><main><p>Loading…</p></main><script>${docsScript}</script></body>
</html>
`;
