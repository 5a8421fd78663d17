/** Small word lists behind the entity rules. Everything is lower case. */

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Never part of a name, however written: interjections, chat shorthand, calendar words, forms of address to relatives. */
export const neverNames = list(`
  i hey hi hello hiya howdy yo bye goodbye thanks thank thx ok okay yes yeah yep yup yea no nope nah wow whoa woah oh ooh ah aww
  aw awww haha hah ha lol lmao omg btw fyi imo imho tbh idk asap rsvp ps nb tv pc dvd cd diy diys faq pdf url api usb gps wifi ai
  yay yikes oops ouch phew hmm hm mm mmm mhm ugh oof yum congrats congratulations cheers sorry please welcome dear woohoo gosh
  jeez damn dang god monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january
  february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
  am pm mom mum mommy dad daddy mama papa grandma grandpa granny nana bro sis dude buddy guys man girl y'all sir madam
  ii iii iv vi vii viii
  fingers plus totally absolutely definitely bummer anyways anyway lately nothing everything something anything everyone
  user assistant bot system human`);

/** Common words that word lists miss, seen at the start of sentences; there alone they are no names. */
export const commonOpeners = list(`
  nature art life family music work books movies pets dance yoga pottery basketball football soccer hiking gaming coding cooking
  baking volunteering networking marketing fashion photography creativity moments challenges setbacks conversations animals
  weddings sunflowers flowers clay kids veggies horses coconut chocolate coffee tea pizza sushi winning losing success respect
  expression contemporary adoption summer winter spring autumn fall love hope faith joy peace time things thoughts stuff lots
  education healthcare infrastructure politics mindfulness meditation exercise fitness technology science history poetry
  wanna gotta gonna lemme guess believe appreciate sounds looks seems feels reminds highly hopefully thankfully unfortunately
  eventually finally recently currently basically actually honestly seriously literally apparently obviously clearly usually
  guitar chess sports exams injury injuries confidence obstacles friendship anytime gym school college university church
  breakfast lunch dinner cats dogs rain snow sunshine weather traffic parents friends teamwork patience practice progress
  communication storytelling volunteers nobody somebody someone anybody anyone whoever whatever whichever
  overall besides meanwhile however therefore moreover furthermore otherwise instead especially except unless although though`);

/** First names that are also everyday words: alone at the start of a sentence they need a verb after them. */
export const ambiguousNames = list(`
  will mark may grace hope faith joy rose chase bill rich drew grant frank dawn june april summer autumn angel star sky ray
  miles young christian crystal holly ginger olive melody harmony destiny patience charity mercy max van lane blue chance cash
  king royal major prince earl duke baron page reed guy buddy sunny happy precious amber penny eve skip chip dot bliss storm
  rain gay pat jade ruby daisy lily violet iris ivy heather`);

export const titles = list(`
  mr mrs ms mx miss dr doctor prof professor sir dame lord lady president senator governor mayor minister captain coach chef
  judge king queen prince princess pope father sister brother reverend rabbi imam detective officer sergeant general colonel
  aunt auntie uncle cousin`);

export const organizationWords = list(`
  inc inc. ltd ltd. llc corp corp. co. gmbh ag plc sa bv oy university college institute school academy bank foundation
  hospital clinic club studios records committee council agency association society group labs laboratories technologies
  systems robotics airlines airways pharmaceuticals motors industries partners ventures capital holdings consulting solutions
  software press publishing network union federation department ministry office team orchestra band church company
  corporation enterprises bakery cafe restaurant brewery library shelter center centre`);

export const placeWords = list(`
  street avenue road boulevard lane square park lake river mountain mountains mount beach island islands canyon valley bay
  falls county coast airport station bridge tower castle cathedral museum forest desert ocean sea peak hills hill creek harbor
  harbour village town city district province state states plaza gardens garden zoo trail temple palace stadium arena gulf
  peninsula reef glacier volcano cliffs cape northwest northeast southwest southeast midwest`);

/** First words of place names. */
export const placeLeads = list(
  "mount mt lake port fort san santa santo los las saint st new north south east west el rio cape sierra",
);

export const eventWords = list(`
  festival conference summit olympics marathon cup championship championships parade expo gala tournament awards fair concert
  tour finals workshop hackathon fest convention carnival ceremony triathlon con prix week war trilogy-premiere meetup retreat`);

export const feasts = list(
  "christmas thanksgiving halloween easter hanukkah ramadan diwali eid passover kwanzaa oktoberfest superbowl",
);

export const personBefore = list(`
  with met meet meeting named friend brother sister wife husband son daughter cousin colleague coworker boss manager neighbor
  neighbour partner girlfriend boyfriend fiancé fiancée mentor roommate classmate nephew niece teammate teacher therapist
  by told asked hug hugged call called text texted invited thank thanks hey hi hello dear visit-with bestie buddy mr mrs ms dr
  author writer singer actor actress artist director player`);

export const personAfter = list(`
  said says told tells asked asks thinks thought wants wanted loves loved likes liked lives lived runs works worked moved
  called replied agreed prefers hates enjoys plays teaches studies married loves speaks knows feels felt went bought`);

export const petBefore = list(
  "dog cat puppy kitten pup hamster parrot turtle rabbit bunny fish horse pony snake lizard doggo kitty pet",
);

export const organizationBefore = list(
  "joined joining join ceo founder cofounder cto employees acquired employer brand startup company",
);

/** Words that make "to <Name>" or "from <Name>" a place. */
export const motion = list(`
  go goes going went gone move moves moving moved travel travels traveling travelling traveled travelled trip trips fly flying
  flew drive driving drove back relocated relocating flight return returned returning come came visit road train way journey
  vacation i'm am is are was were originally transferred emigrated immigrated migrated`);
