/** English words that the rules of claims go by. Small on purpose: what is not listed is compared by its own words. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Things of which somebody prefers, or uses, one at a time. A word stands in one class. */
const alternatives: Readonly<Record<string, string>> = {
  drink: "tea coffee water juice soda matcha espresso cappuccino latte beer wine cocoa lemonade milk kombucha cola decaf",
  color: "red blue green yellow purple orange pink black white brown grey gray teal turquoise",
  channel: "email emails e-mail phone call calls text texts texting sms slack whatsapp chat telegram signal letter letters teams",
  daytime: "morning mornings evening evenings afternoon afternoons night nights noon midday",
  season: "summer winter spring autumn fall",
  transport: "train trains plane planes flying bus buses car driving bike cycling walking subway metro tram",
  place: "home office remote remotely coworking hybrid",
  phone: "iphone android pixel blackberry nokia",
  browser: "chrome firefox safari brave opera vivaldi",
  editor: "vim neovim emacs vscode sublime intellij zed",
  system: "windows linux macos ubuntu fedora debian",
  code: "python rust java javascript typescript golang kotlin swift ruby php scala haskell elixir",
  theme: "dark light",
  pet: "cats dogs",
  seat: "aisle window",
  cuisine: "italian thai indian mexican japanese chinese french korean greek vietnamese",
  landscape: "mountains beach beaches city countryside",
  medium: "paper ebook ebooks audiobook audiobooks hardcover paperback",
};

export const classOfWord: ReadonlyMap<string, string> = new Map(
  Object.entries(alternatives).flatMap(([name, list]) => list.split(" ").map((word) => [word, name] as const)),
);

/** Nouns that somebody or something has one of, so that another value replaces the one before. */
export const attributeNouns = words(`
  phone number email address password passcode pin code username nickname name job title role position employer boss manager
  supervisor mentor salary rent budget deadline goal target weight height age size shoe car timezone zone language plan
  subscription bank doctor dentist therapist gym major school university status birthday anniversary appointment meeting standup
  call flight date time schedule desk office room team lead owner captain price cost fee rate limit quota version port host url
  website domain carrier provider wifi hometown city country neighborhood neighbourhood roommate girlfriend boyfriend partner
  wife husband fiance fiancee landlord neighbor neighbour coach trainer instructor tutor advisor class shift bedtime launch
  release venue location headquarters capital ceo cto president leader nationality religion commute lunch breakfast dinner order
  usual pronouns hairstyle laptop editor browser framework database stack dosage dose medication prescription diagnosis plate
  locker seat gate extension contact username handle account currency threshold timeout branch locale interval theme layout
`);

export const diets = words("vegetarian vegan pescatarian omnivore carnivore flexitarian keto paleo kosher halal");
export const meats = words("meat beef chicken steak pork bacon burgers fish");
export const maritalStates = words("single married engaged divorced widowed separated dating");

/** Adjectives that exclude one another. */
export const oppositeOf: ReadonlyMap<string, string> = new Map(
  [
    "open closed",
    "available unavailable",
    "enabled disabled",
    "active inactive",
    "online offline",
    "full empty",
    "public private",
    "mandatory optional",
    "employed unemployed",
    "allowed forbidden",
    "paid free",
    "healthy sick",
    "awake asleep",
    "in out",
  ]
    .map((pair) => pair.split(" ") as [string, string])
    .flatMap(
      ([a, b]) =>
        [
          [a, b],
          [b, a],
        ] as const,
    ),
);

export const isOccupation = (noun: string): boolean =>
  /(?:eer|ist|ian|ician|teacher|nurse|lawyer|doctor|designer|developer|manager|director|writer|driver|baker|farmer|painter|researcher|professor|consultant|architect|chef|cook|accountant|analyst|plumber|officer|photographer|lecturer|editor|programmer|assistant|student|pilot|surgeon|vet|waiter|waitress|cashier|clerk|tutor|freelancer|barista|carpenter|actor|actress|lead|head|founder|ceo|cto|salesperson|translator|dancer|trainer|coach)$/.test(
    noun,
  ) && !/(?:sugar|linger)$/.test(noun);

/** Verbs that say the same of what somebody likes, or dislikes. */
export const liking = words("like love enjoy adore");
export const disliking = words("hate dislike detest despise loathe");
/** Verbs of using something up or making use of it: giving the thing up ends all of them. */
export const using = words("drink eat use smoke take consume");
