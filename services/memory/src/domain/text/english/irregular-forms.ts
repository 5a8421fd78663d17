/**
 * Forms that a suffix stemmer cannot join to their base, and a few everyday names for the same thing. Left of the colon
 * is the base that stands for the group; it is stemmed afterwards like any other word.
 */
const groups = `
arise: arose arisen
bear: bore borne
beat: beaten
become: became
begin: began begun
bite: bit bitten
blow: blew blown
break: broke broken
bring: brought
build: built
buy: bought
catch: caught
choose: chose chosen
come: came
deal: dealt
dig: dug
draw: drew drawn
dream: dreamt
drink: drank drunk
drive: drove driven
eat: ate eaten
fall: fell fallen
feed: fed
feel: felt
fight: fought
find: found
fly: flew flown
forget: forgot forgotten
forgive: forgave forgiven
freeze: froze frozen
get: got gotten
give: gave given
go: went gone gonna
grow: grew grown
hang: hung
hear: heard
hide: hid hidden
hold: held
keep: kept
know: knew known
lead: led
learn: learnt
leave: left
lend: lent
lose: lost
make: made
mean: meant
meet: met
pay: paid
ride: rode ridden
ring: rang rung
rise: rose risen
run: ran
say: said
see: saw seen
seek: sought
sell: sold
send: sent
shake: shook shaken
shine: shone
shoot: shot
show: shown
sing: sang sung
sink: sank sunk
sit: sat
sleep: slept
speak: spoke spoken
spend: spent
stand: stood
steal: stole stolen
stick: stuck
strike: struck
swear: swore sworn
sweep: swept
swim: swam swum
take: took taken
teach: taught
tear: tore torn
tell: told
think: thought
throw: threw thrown
understand: understood
wake: woke woken
wear: wore worn
win: won
write: wrote written
foot: feet
goose: geese
half: halves
knife: knives
leaf: leaves
life: lives
man: men
mouse: mice
person: people
shelf: shelves
thief: thieves
tooth: teeth
wife: wives
wolf: wolves
woman: women
good: better best
bad: worse worst
child: kid kids children
mother: mom moms mum mums mommy mama
father: dad dads daddy papa
grandmother: grandma grandmas granny nana
grandfather: grandpa grandpas granddad grandad
movie: film films
photo: picture pictures pic pics
`;

/** From an irregular form to the base that stands for its group. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  groups
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [base = "", forms = ""] = line.split(": ");
      return forms.split(" ").map((form): [string, string] => [form, base]);
    }),
);
