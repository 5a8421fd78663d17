/** The text of a document after an append: two JSON arrays of objects become one array, anything else gets a new line. */
export function appendText(existing: string, added: string): string {
  const [first, second] = [arrayOfObjects(existing), arrayOfObjects(added)];
  return first && second ? JSON.stringify([...first, ...second]) : `${existing}\n${added}`;
}

function arrayOfObjects(text: string): object[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isConversation =
      Array.isArray(value) && value.length > 0 && value.every((element) => typeof element === "object" && element !== null);
    return isConversation ? value : undefined;
  } catch {
    return undefined; // Not JSON after all: it is prose that starts with a bracket.
  }
}
