/** A short life of a bank: notes told on following days, and what should be known of them afterwards. */
export interface ConsolidationCase {
  readonly kind: CaseKind;
  readonly notes: readonly string[];
  /** Notes (by position) that no longer hold, each with the notes that may count as what ended it. */
  readonly outdated: readonly { readonly note: number; readonly by: readonly number[] }[];
  /** Notes that may be called outdated or not: they held, did not hold, and hold again. */
  readonly disputed?: readonly number[];
  /** Notes that belong into one observation. */
  readonly together: readonly (readonly number[])[];
}

export type CaseKind = "change of mind" | "change of state" | "restatement" | "negation" | "several steps" | "unrelated";

/** Written by hand, one idea each; `generatedCases` adds breadth. */
export const writtenCases: readonly ConsolidationCase[] = [
  ...changed("change of mind", [
    ["I prefer tea in the morning.", "I prefer coffee now."],
    ["I love sushi.", "I don't like sushi anymore."],
    ["Tom: I really enjoy horror movies.", "Tom: I can't stand horror movies these days."],
    ["My favourite color is blue.", "My favourite color is green now."],
    ["Maria: My favorite band is Blur.", "Maria: Actually, my favorite band is Pulp."],
    ["I'm a big fan of musicals.", "I am not a fan of musicals anymore."],
    ["The user prefers dark mode.", "The user prefers light mode."],
    ["I prefer aisle seats.", "I changed my mind, I prefer window seats."],
    ["I'd rather travel by train.", "I prefer flying over trains."],
    ["Priya: I hate running.", "Priya: I love running now!"],
    ["I prefer emails.", "Please note: I prefer phone calls now."],
    ["I prefer working from home.", "I prefer working in the office."],
    ["Jon loves spicy food.", "Jon no longer likes spicy food."],
    ["I'm into crosswords.", "I'm not into crosswords any more."],
    ["I like cilantro.", "Turns out, I dislike cilantro."],
    ["My favourite season is winter.", "Summer is my favourite season."],
    ["I prefer Python over Java.", "I prefer Java over Python these days."],
    ["Lena: I adore cats.", "Lena: I've gone off cats, to be honest. I don't like cats."],
    ["I prefer meetings in the morning.", "I prefer meetings in the afternoon."],
    ["We like the old logo.", "We don't like the old logo."],
  ]),
  ...changed(
    "change of state",
    [
      ["I live in Berlin.", "I moved to Lisbon."],
      ["Maria lives in Oslo.", "Maria moved to Bergen last month."],
      ["Ben: I'm based in Toronto.", "Ben: We relocated to Vancouver."],
      ["I work at Siemens.", "I joined Bosch."],
      ["Anna works for Northwind.", "Anna left Northwind for Contoso."],
      ["I work as a nurse.", "I became a teacher."],
      ["My phone number is 555-0101.", "My phone number is 555-0199."],
      ["My manager is Bob.", "Alice is my new manager."],
      ["I'm single.", "I'm engaged!"],
      ["Carla is married.", "Carla got divorced."],
      ["The deadline for Apollo is May 3.", "The deadline for Apollo was moved to June 15."],
      ["The standup is at 9:00.", "The standup is at 10:30 now."],
      ["I am 34 years old.", "I am 35 years old."],
      ["I drive a Toyota.", "I drive a Tesla now."],
      ["I have two cats.", "I have three cats."],
      ["The wifi password is hunter2.", "The wifi password is swordfish."],
      ["I use an iPhone.", "I switched from an iPhone to a Pixel."],
      ["The office is open on Saturdays.", "The office is closed on Saturdays."],
      ["Dan is studying biology.", "Dan is studying chemistry now."],
      ["My email is a@example.com.", "I changed my email to b@example.com."],
      ["Our budget is 5000 euros.", "Our budget is 7000 euros."],
      ["Eva reports to Mark.", "Eva reports to Julia now."],
      ["My sister lives in Rome.", "My sister moved to Milan."],
      ["The launch date is March 1.", "The launch date was postponed to April 12."],
      ["Sam's job title is analyst.", "Sam's job title is senior manager."],
      ["I'm a vegetarian.", "I eat meat again."],
      ["My dentist is Dr. Lee.", "My dentist is Dr. Patel."],
      ["Our team lead is Omar.", "Our team lead is Nina."],
      ["I go to Planet Gym.", "My gym is Iron House."],
      ["The meeting is on Tuesday.", "The meeting was rescheduled to Thursday."],
    ],
    [28],
  ),
  ...changed("negation", [
    ["I drink coffee every day.", "I stopped drinking coffee."],
    ["I smoke.", "I quit smoking."],
    ["Leo eats meat.", "Leo no longer eats meat."],
    ["I'm allergic to peanuts.", "I'm not allergic to peanuts anymore."],
    ["I play tennis.", "I don't play tennis anymore."],
    ["Nora: I use Slack.", "Nora: I no longer use Slack."],
    ["I live in Berlin.", "I no longer live in Berlin."],
    ["I'm vegan.", "I'm no longer vegan."],
    ["Ivan works at Acme.", "Ivan no longer works at Acme."],
    ["I drink beer.", "I gave up beer."],
    ["I wear glasses.", "I don't wear glasses any more."],
    ["I eat sugar.", "I've cut out sugar."],
    ["We support Internet Explorer.", "We no longer support Internet Explorer."],
    ["The feature is enabled.", "The feature is not enabled."],
    ["Kim is allergic to cats.", "Kim is no longer allergic to cats."],
    ["I watch football.", "I used to watch football."],
    ["I take the bus.", "I don't take the bus."],
    ["I don't eat fish.", "I started eating fish."],
    ["Rosa does not drink alcohol.", "Rosa drinks alcohol."],
    ["I never drink wine.", "I drink wine now."],
  ]),
  ...restated(
    [
      ["I live in Lisbon.", "I moved to Lisbon."],
      ["Maria runs the Lisbon office.", "Maria runs the Lisbon office of Northwind."],
      ["I love hiking.", "I really love hiking."],
      ["I prefer tea.", "I always prefer tea."],
      ["Tom: I play guitar in a band.", "Tom: I still play guitar in a band."],
      ["I'm allergic to nuts.", "I have a nut allergy."],
      ["I work at Siemens.", "I'm working for Siemens."],
      ["My favourite color is blue.", "Blue is my favourite color."],
      ["I enjoy jazz.", "I love jazz."],
      ["Ana: I love hiking in the Alps.", "Ana loves hiking in the Alps."],
      ["The deadline for Apollo is May 3.", "Reminder: the deadline for Apollo is May 3."],
      ["I don't drink coffee.", "I no longer drink coffee."],
      ["I'm vegetarian.", "I am a vegetarian."],
      ["Ben has a dog called Rex.", "Ben has a brown dog called Rex."],
      ["My manager is Bob.", "Bob is my manager."],
      ["I hate mornings.", "I can't stand mornings."],
      ["The server room is on the third floor.", "The server room is on the third floor of the main building."],
      ["I'm based in Porto.", "I live in Porto."],
      ["Grandma's recipe uses a pinch of nutmeg.", "Grandma's recipe always uses a pinch of nutmeg."],
      ["Our API rate limit is 100 requests per minute.", "The API rate limit is 100 requests per minute."],
    ],
    [19],
  ),
  {
    kind: "several steps",
    notes: ["I live in Berlin.", "I moved to Paris.", "I moved to Rome."],
    outdated: [
      { note: 0, by: [1, 2] },
      { note: 1, by: [2] },
    ],
    together: [[0, 1, 2]],
  },
  {
    kind: "several steps",
    notes: ["I like olives.", "I don't like olives.", "I like olives again."],
    outdated: [{ note: 1, by: [2] }],
    disputed: [0],
    together: [[0, 1, 2]],
  },
  {
    kind: "several steps",
    notes: ["I drink coffee.", "I stopped drinking coffee and switched to tea.", "I prefer tea."],
    outdated: [{ note: 0, by: [1] }],
    together: [[0, 1]],
  },
  {
    kind: "several steps",
    notes: ["Mia works at Acme.", "Mia works at Acme.", "Mia joined Globex.", "Mia works for Globex."],
    outdated: [
      { note: 0, by: [2, 3] },
      { note: 1, by: [2, 3] },
    ],
    together: [[0, 1, 2, 3]],
  },
  {
    kind: "several steps",
    notes: ["I live in Lisbon.", "Tom lives in Madrid.", "I moved to Faro.", "Tom moved to Seville."],
    outdated: [
      { note: 0, by: [2] },
      { note: 1, by: [3] },
    ],
    together: [
      [0, 2],
      [1, 3],
    ],
  },
  {
    kind: "several steps",
    notes: ["My budget is 100 euros.", "My budget is 200 euros.", "My budget is 300 euros.", "I like cheese."],
    outdated: [
      { note: 0, by: [1, 2] },
      { note: 1, by: [2] },
    ],
    together: [[0, 1, 2]],
  },
  {
    kind: "several steps",
    notes: ["I'm single.", "I'm dating Kim.", "Kim and I got engaged.", "I'm married."],
    outdated: [
      { note: 0, by: [1, 2, 3] },
      { note: 1, by: [2, 3] },
      { note: 2, by: [3] },
    ],
    together: [[0, 1, 3]],
  },
  ...unrelated([
    ["I love sushi.", "I love pizza."],
    ["I live in Berlin.", "I visited Lisbon."],
    ["I live in Berlin.", "Tom lives in Lisbon."],
    ["I have a dog.", "I have a cat."],
    ["My sister is a doctor.", "My sister is visiting."],
    ["I want to move to Madrid.", "I live in Porto."],
    ["I live in Porto.", "I would like to move to Madrid."],
    ["I live in Porto.", "I might move to Madrid next year."],
    ["I drink coffee.", "I don't drink coffee after five."],
    ["I speak German.", "I speak French."],
    ["Maria: I prefer tea.", "Ben: I prefer coffee."],
    ["I prefer tea.", "I prefer trains."],
    ["Did you move to Rome?", "I live in Naples."],
    ["I used to live in Vienna.", "I live in Graz."],
    ["My mother lives in Rome.", "My father lives in Milan."],
    ["I bought a red car.", "I bought a blue car."],
    ["I read Dune in May.", "I read Emma in June."],
    ["My brother works at Acme.", "I work at Globex."],
    ["The deadline for Apollo is May 3.", "The deadline for Gemini is June 1."],
    ["I like dark chocolate.", "I don't like milk chocolate."],
    ["I hate Mondays.", "I love Fridays."],
    ["The kitchen window is open.", "The garage door is closed."],
    ["I play tennis.", "I play chess."],
    ["I am a runner.", "I am a father."],
    ["I am tired.", "I am happy."],
    ["I ran five kilometres.", "I ran eight kilometres."],
    ["We painted the fence red.", "We painted the shed green."],
    ["I lived in Prague as a child.", "I live in Brno."],
    ["I think Tom moved to Oslo.", "Tom lives in Bergen."],
    ["If I move to Oslo, I will sell the car.", "I live in Bergen."],
    ["I love my job.", "I don't love the commute."],
    ["My dog is asleep.", "My dog is brown."],
    ["I use Slack.", "I use Zoom."],
    ["I drive to work.", "I drive a van."],
    ["I'm allergic to cats.", "I'm not allergic to dogs."],
    ["I attended a wedding in Rome.", "I attended a concert in Milan."],
    ["Anna said she prefers tea.", "I prefer coffee."],
    ["I was in Rome.", "I am in Paris."],
    ["My favourite color is blue.", "My favourite food is ramen."],
    ["I don't own a car.", "I own a bike."],
    ["The blue house is small.", "The red house is big."],
    ["I'm learning Spanish.", "I'm learning piano."],
    ["I work at Acme.", "I had lunch at Globex."],
    ["I joined the gym.", "I joined a book club."],
    ["We moved the couch to the living room.", "I live in Ghent."],
    ["I moved to the next question.", "I live in Ghent."],
    ["My son is five.", "My daughter is seven."],
    ["I like Anna.", "I don't like Anna's car."],
    ["The red team won in 2022.", "The red team won in 2023."],
    ["Call me at noon.", "Call me at six."],
  ]),
];

/** Notes in pairs of which the second ends what the first says; `exceptions` are expected in one observation all the same. */
function changed(
  kind: CaseKind,
  pairs: readonly (readonly [string, string])[],
  notSeen: readonly number[] = [],
): ConsolidationCase[] {
  return pairs.map((notes, i) => ({
    kind,
    notes,
    outdated: [{ note: 0, by: [1] }],
    together: notSeen.includes(i) ? [] : [[0, 1]],
  }));
}

function restated(pairs: readonly (readonly [string, string])[], notSeen: readonly number[] = []): ConsolidationCase[] {
  return pairs.map((notes, i) => ({ kind: "restatement", notes, outdated: [], together: notSeen.includes(i) ? [] : [[0, 1]] }));
}

function unrelated(pairs: readonly (readonly [string, string])[]): ConsolidationCase[] {
  return pairs.map((notes) => ({ kind: "unrelated", notes, outdated: [], together: [] }));
}

const people = ["Ada", "Bruno", "Chloe", "Dmitri", "Elif", "Farid"];
const cities = ["Lisbon", "Oslo", "Kyoto", "Lima", "Tallinn", "Accra", "Quito"];
const companies = ["Initech", "Hooli", "Umbrella", "Stark", "Wayne", "Soylent"];
const hobbies = ["pottery", "chess", "salsa", "climbing", "karaoke", "yoga"];
const numbers = ["4111", "4222", "4333", "4444", "4555", "4666"];

/** Told in the person's own words or in a note about them; the change comes after notes on other things. */
const frames: readonly {
  readonly kind: CaseKind;
  readonly make: (who: string, a: string, b: string) => readonly string[];
  readonly values: readonly string[];
}[] = [
  {
    kind: "change of state",
    values: cities,
    make: (who, a, b) => [`${who}: I live in ${a}.`, `${who}: The weather was lovely.`, `${who}: Since April, I live in ${b}.`],
  },
  {
    kind: "change of state",
    values: cities,
    make: (who, a, b) => [`${who} lives in ${a}.`, `${who} visited ${b}.`, `${who} moved from ${a} to ${b}.`],
  },
  {
    kind: "change of state",
    values: companies,
    make: (who, a, b) => [`${who}: I work for ${a}.`, `${who}: Lunch was great.`, `${who}: Big news: I joined ${b}!`],
  },
  {
    kind: "change of state",
    values: companies,
    make: (who, a, b) => [`${who} works at ${a}.`, `${who} called a friend.`, `${who} started working at ${b}.`],
  },
  {
    kind: "negation",
    values: hobbies,
    make: (who, a, b) => [`${who}: I love ${a}.`, `${who}: I love ${b}.`, `${who}: Honestly, I don't enjoy ${a} anymore.`],
  },
  {
    kind: "change of state",
    values: numbers,
    make: (who, a, b) => [`${who}'s extension is ${a}.`, `${who} was out today.`, `${who}'s new extension is ${b}.`],
  },
  {
    kind: "negation",
    values: hobbies,
    make: (who, a, b) => [`${who} hates ${a}.`, `${who} hates ${b}.`, `${who} loves ${a} these days.`],
  },
];

export function generatedCases(): ConsolidationCase[] {
  return frames.flatMap(({ kind, values, make }) =>
    people.flatMap((who, i) => {
      const [a, b] = [values[i % values.length]!, values[(i + 1) % values.length]!];
      const notes = make(who, a, b);
      // The same notes of two people: nothing may pass from one to the other.
      const other = people[(i + 1) % people.length]!;
      const crossed = [notes[0]!, notes[2]!.replaceAll(who, other)];
      return [
        { kind, notes, outdated: [{ note: 0, by: [2] }], together: [[0, 2]] },
        { kind: "unrelated" as const, notes: crossed, outdated: [], together: [] },
      ];
    }),
  );
}
