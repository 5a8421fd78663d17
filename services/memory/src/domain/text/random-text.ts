/** Test support: small reproducible text generator for property tests; print the seed with the failing text. */

/** Mulberry32: uniform in [0, 1), the same sequence for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pieces = [
  ..."abcXYZ0189 .!?,;:'\"()[]{}-_/\\\n\t\r…。！？「」“”’",
  ...[
    "Mr. ",
    "e.g. ",
    "3.5",
    "Maria ",
    "last week ",
    "in 2019 ",
    "Anna: ",
    "\n\n",
    ". ",
    "\r\n",
    "[shares a photo: x]",
    "because ",
  ],
  ...[
    "é",
    "ß",
    "İ",
    "漢字",
    "です。",
    "ไทย",
    "한국",
    "שלום",
    "مرحبا",
    "🙂",
    "👩‍👩‍👧",
    "\u0301",
    "\u200d",
    "\u0000",
    "\u2028",
    "\ud83d",
    "\udc00",
  ],
];

/** Up to 80 pieces of words, punctuation, scripts, emoji, control characters and lone surrogates. */
export function randomText(random: () => number): string {
  const count = Math.floor(random() * 80);
  return Array.from({ length: count }, () => pieces[Math.floor(random() * pieces.length)]!).join("");
}
