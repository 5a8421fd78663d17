import { expect, test } from "vitest";
import { applyOperations, type BlockOperation } from "./block-operations.ts";
import { parseDocument, renderDocument } from "./document.ts";

const text = [
  "Intro.",
  "",
  "# One",
  "",
  "- a",
  "  below a",
  "- b",
  "",
  "Paragraph",
  "of two lines.",
  "",
  "## Two ##",
  "",
  "```js",
  "# no heading",
  "",
  "- no item",
  "```",
].join("\n");

const parsed = () => parseDocument(text)!;
const applied = (...operations: BlockOperation[]) => applyOperations(parsed(), operations);

test("a text is taken apart into sections and blocks, code in one piece, and put together as it was", () => {
  const { sections } = parsed();
  expect(sections.map(({ id, heading, level, blocks }) => [id, heading, level, blocks.map((block) => block.id)])).toEqual([
    ["s1", null, 1, ["b1"]],
    ["s2", "One", 1, ["b2", "b3", "b4"]],
    ["s3", "Two", 2, ["b5"]],
  ]);
  expect(sections[1]!.blocks[0]!.text).toBe("- a\n  below a");
  expect(sections[2]!.blocks[0]!.text).toContain("# no heading");
  expect(renderDocument(parsed())).toBe(text.replace("## Two ##", "## Two"));
});

test("reading what was rendered changes nothing more", () => {
  for (const odd of [
    "",
    "\n\n",
    "# Only a heading",
    "a\r\nb",
    "#no heading",
    "1. x\n2. y\n\n3) z",
    "~~~\n```\n~~~",
    "* a\n\n\n* b",
  ]) {
    const once = renderDocument(parseDocument(odd)!);
    expect(renderDocument(parseDocument(once)!), JSON.stringify(odd)).toBe(once);
  }
});

test("code that never ends cannot be taken apart", () => {
  expect(parseDocument("a\n\n```\ncode")).toBeUndefined();
});

test("every change does what it says", () => {
  const { document, appliedCount, skippedCount } = applied(
    { op: "append_block", sectionId: "s1", text: "More." },
    { op: "insert_block", blockId: "b2", text: "- between" },
    { op: "replace_block", blockId: "b4", text: "Changed." },
    { op: "remove_block", blockId: "b3" },
    { op: "rename_section", sectionId: "s2", heading: "First" },
    { op: "remove_section", sectionId: "s3" },
    { op: "add_section", heading: "New", level: 9, blocks: ["x", " "] },
  );
  expect({ appliedCount, skippedCount }).toEqual({ appliedCount: 7, skippedCount: 0 });
  expect(renderDocument(document)).toBe("Intro.\n\nMore.\n\n# First\n\n- a\n  below a\n- between\n\nChanged.\n\n###### New\n\nx");
  const replaced = applied({ op: "replace_section_blocks", sectionId: "s2", blocks: ["only"] });
  expect(renderDocument(replaced.document)).toContain("# One\n\nonly\n\n## Two");
});

test("changes of what is not there, and changes that put in nothing, are skipped", () => {
  const operations: BlockOperation[] = [
    { op: "append_block", sectionId: "s9", text: "x" },
    { op: "append_block", sectionId: "s1", text: " " },
    { op: "insert_block", blockId: "", text: "x" },
    { op: "replace_block", blockId: "b1", text: "" },
    { op: "remove_block", blockId: "b99" },
    { op: "add_section", heading: "", level: 2, blocks: ["x"] },
    { op: "add_section", heading: "x", level: 2, blocks: [] },
    { op: "replace_section_blocks", sectionId: "s1", blocks: [""] },
    { op: "rename_section", sectionId: "s1", heading: "" },
    { op: "remove_section", sectionId: "" },
  ];
  const { document, appliedCount, skippedCount } = applied(...operations);
  expect({ appliedCount, skippedCount }).toEqual({ appliedCount: 0, skippedCount: operations.length });
  expect(document).toEqual(parsed());
});

test("what is removed cannot be changed any more, and a section without blocks goes", () => {
  const { document, appliedCount } = applied(
    { op: "remove_block", blockId: "b5" },
    { op: "replace_block", blockId: "b5", text: "x" },
  );
  expect(appliedCount).toBe(1);
  expect(document.sections.map(({ heading }) => heading)).toEqual([null, "One"]);
});
