/** Notes of one bank, told on following days, and what is asked of it afterwards. */
export interface QuestionCase {
  readonly notes: readonly string[];
  readonly questions: readonly Question[];
  /** Notes (by position) of which the second ended what the first says, and a question that both speak to. */
  readonly replaced: readonly { readonly query: string; readonly earlier: number; readonly later: number }[];
}

export interface Question {
  readonly kind: QuestionKind;
  readonly query: string;
  /** Each must stand in the answer, whatever its case. Empty for a question that the bank cannot answer. */
  readonly expected: readonly string[];
}

/** "several facts": no one note holds the whole answer. "not held": about somebody or something known, yet not told. */
export type QuestionKind = "one fact" | "several facts" | "not held";

const ask = (query: string, ...expected: readonly string[]): Question => ({ kind: "one fact", query, expected });
const askSeveral = (query: string, ...expected: readonly string[]): Question => ({ kind: "several facts", query, expected });
const notHeld = (query: string): Question => ({ kind: "not held", query, expected: [] });

/** Written by hand: a diary, a team, a household. */
export const writtenQuestions: readonly QuestionCase[] = [
  {
    notes: [
      "Alice loves Python.",
      "Alice lives in Berlin.",
      "Alice has a dog called Rex.",
      "Rex is afraid of thunder.",
      "Alice's sister is Nora.",
      "Nora works at a bakery in Ghent.",
      "Alice moved to Lisbon.",
      "Alice bought a red bicycle for 300 euros.",
      "Alice is allergic to hazelnuts.",
      "Alice is learning to play the cello.",
    ],
    questions: [
      ask("What does Alice like?", "Python"),
      ask("Where does Alice live?", "Lisbon"),
      ask("What is the name of Alice's dog?", "Rex"),
      ask("What is Rex afraid of?", "thunder"),
      ask("Where does Nora work?", "bakery"),
      ask("What is Alice allergic to?", "hazelnuts"),
      ask("Which instrument does Alice play?", "cello"),
      ask("How much did the bicycle cost?", "300"),
      askSeveral("What is Alice's dog called, and what is Rex afraid of?", "Rex", "thunder"),
      askSeveral("Who is Alice's sister and where does Nora work?", "Nora", "bakery"),
      askSeveral("Which cities has Alice lived in?", "Berlin", "Lisbon"),
      notHeld("What is Alice's phone number?"),
      notHeld("Where did Alice study medicine?"),
      notHeld("What does Nora think about politics?"),
      notHeld("Which vet treats Rex?"),
      notHeld("When is Alice's wedding?"),
      notHeld("Where does Marcus live?"),
      notHeld("What is the capital of Mongolia?"),
    ],
    replaced: [{ query: "Where does Alice live?", earlier: 1, later: 6 }],
  },
  {
    notes: [
      "The deadline for Apollo is May 3.",
      "Omar leads the Apollo project.",
      "Omar is on parental leave until June.",
      "The Apollo database runs on PostgreSQL.",
      "Priya reviews every schema change of Apollo.",
      "The deadline for Apollo was moved to June 15.",
      "The Gemini project is paused because of its budget.",
      "Our staging server is in Frankfurt.",
      "Priya prefers email over chat.",
      "The standup is at 9:00.",
      "The standup is at 10:30 now.",
    ],
    questions: [
      ask("When is the deadline for Apollo?", "June 15"),
      ask("Who leads the Apollo project?", "Omar"),
      ask("Which database does Apollo use?", "PostgreSQL"),
      ask("Who reviews schema changes?", "Priya"),
      ask("Why is Gemini paused?", "budget"),
      ask("Where is the staging server?", "Frankfurt"),
      ask("When is the standup?", "10:30"),
      ask("How does Priya want to be contacted, email or chat?", "email"),
      askSeveral("Who leads Apollo and when is its deadline?", "Omar", "June 15"),
      askSeveral("Who leads Apollo, and is Omar on leave?", "Omar", "parental leave"),
      askSeveral("Which database does Apollo run on and who reviews schema changes?", "PostgreSQL", "Priya"),
      notHeld("What is the salary of Omar?"),
      notHeld("Which law firm checks our contracts?"),
      notHeld("How many customers does Gemini have?"),
      notHeld("Where did Priya go to university?"),
      notHeld("Who is the chief executive of Initech?"),
      notHeld("What colour is the Apollo logo?"),
    ],
    replaced: [
      { query: "When is the deadline for Apollo?", earlier: 0, later: 5 },
      { query: "When is the standup?", earlier: 9, later: 10 },
    ],
  },
  {
    notes: [
      "I prefer tea in the morning.",
      "I work as a nurse.",
      "My manager is Bob.",
      "I enjoy hiking in the Alps.",
      "Bob collects stamps.",
      "I prefer coffee now.",
      "I became a teacher.",
      "My mother was born in Trieste.",
      "I can't stand horror movies.",
      "The plumber comes on Thursday at noon.",
      "The plumber is called Mr. Weber.",
      "I bought a dishwasher from Bosch.",
    ],
    questions: [
      ask("Do I prefer tea or coffee?", "coffee"),
      ask("Who is my manager?", "Bob"),
      ask("What does Bob collect?", "stamps"),
      ask("What do I like to do in the Alps?", "hiking"),
      ask("Where was my mother born?", "Trieste"),
      ask("Which movies do I hate?", "horror"),
      ask("When does the plumber come?", "Thursday"),
      ask("Which brand is the dishwasher I bought?", "Bosch"),
      askSeveral("What is the plumber called and when does the plumber come?", "Weber", "Thursday"),
      askSeveral("Who is my manager and what does Bob collect?", "Bob", "stamps"),
      notHeld("What is my blood type?"),
      notHeld("Which insurance company do I have?"),
      notHeld("What did Bob study in Vienna?"),
      notHeld("How old is my grandfather?"),
      notHeld("What is the name of my dentist?"),
      notHeld("Who won the chess tournament?"),
    ],
    replaced: [{ query: "What do I prefer, tea or coffee?", earlier: 0, later: 5 }],
  },
];

const people = ["Ada", "Bruno", "Chloe", "Dmitri", "Elif", "Farid", "Greta", "Hugo"];
const cities = ["Lisbon", "Oslo", "Kyoto", "Lima", "Tallinn", "Accra", "Quito", "Riga"];
const companies = ["Northwind", "Contoso", "Globex", "Hooli", "Stark", "Wayne", "Soylent", "Acme"];
const hobbies = ["pottery", "chess", "salsa", "climbing", "karaoke", "yoga", "archery", "sailing"];
const pets = ["Biscuit", "Comet", "Domino", "Ember", "Fudge", "Ginger", "Hazel", "Indigo"];
const likings = ["loves", "likes", "enjoys", "adores"];

/** Two people to a bank, so that an answer about one can be mistaken for the other. */
export function generatedQuestions(): QuestionCase[] {
  return people.map((who, i) => {
    const of = (values: readonly string[], step = 0) => values[(i + step) % values.length]!;
    const other = of(people, 1);
    return {
      notes: [
        `${who} lives in ${of(cities)}.`,
        `${other} lives in ${of(cities, 3)}.`,
        `${who} ${of(likings)} ${of(hobbies)}.`,
        `${other} works at ${of(companies)}.`,
        `${who} has a cat called ${of(pets)}.`,
        `${of(pets)} sleeps on the piano.`,
        `${who} moved to ${of(cities, 1)}.`,
        `${other} joined ${of(companies, 1)}.`,
        `${who} is allergic to peanuts.`,
        "The weather was lovely.",
      ],
      questions: [
        ask(`Where does ${who} live?`, of(cities, 1)),
        ask(`Where does ${other} live?`, of(cities, 3)),
        ask(`What does ${who} like?`, of(hobbies)),
        ask(`Where does ${other} work?`, of(companies, 1)),
        ask(`What is ${who}'s cat called?`, of(pets)),
        ask(`What is ${who} allergic to?`, "peanuts"),
        askSeveral(`What is ${who}'s cat called and where does ${of(pets)} sleep?`, of(pets), "piano"),
        askSeveral(`Where do ${who} and ${other} live?`, of(cities, 1), of(cities, 3)),
        notHeld(`Which car does ${who} drive?`),
        notHeld(`What is ${other}'s shoe size?`),
        notHeld(`Who is ${who}'s dentist?`),
        notHeld(`What did ${other} study at university?`),
        notHeld("Where does Zoltan live?"),
      ],
      replaced: [
        { query: `Where does ${who} live?`, earlier: 0, later: 6 },
        { query: `Where does ${other} work?`, earlier: 3, later: 7 },
      ],
    };
  });
}
