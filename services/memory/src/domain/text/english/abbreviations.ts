/** Abbreviations that a name or number follows: their period never ends a sentence. Lower case, without the period. */
export const leadingAbbreviations: ReadonlySet<string> = new Set(
  "mr mrs ms mx dr prof st mt ft gen col sgt capt lt cmdr maj sen rep gov pres rev hon vs no nos vol fig eq sec ch pp ca cf eg ie e.g i.e approx".split(
    " ",
  ),
);

/** Abbreviations that may also close a sentence: their period ends it when the next word is one that opens sentences. */
export const closingAbbreviations: ReadonlySet<string> = new Set(
  [
    "etc al jr sr inc ltd co corp llc dept est ave blvd rd apt ext min max hr hrs sq tel",
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun",
    "u.s u.k u.n e.u d.c a.m p.m am pm ph.d m.d b.a m.a b.sc m.sc",
  ]
    .join(" ")
    .split(" "),
);

/** Capitalised words that open a sentence rather than continue a name ("J. Smith", "plan B. The"). */
export const sentenceOpeners: ReadonlySet<string> = new Set(
  [
    "i we you he she it they this that these those there here the a an my our your his her its their",
    "and but so or if when while after before since because although however then also now yes no not",
    "what who where why how which in on at for from with as to is are was were do does did can could will would",
  ]
    .join(" ")
    .split(" "),
);
