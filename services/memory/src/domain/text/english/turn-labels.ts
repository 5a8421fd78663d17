/** Words that stand before a colon as the heading of a line and not as the name of who speaks. Lower case. */
export const headingWords: ReadonlySet<string> = new Set(
  [
    "note notes nb ps todo todos tip tips warning caution important info fyi update updates edit summary tldr conclusion",
    "overview introduction background context description details example examples reason reasons result results goal goals",
    "action actions next decision decisions agenda topic topics attendees participants owner owners author authors status",
    "priority deadline due date dates time times when where who what why how place location address venue phone email mail",
    "tel fax url link links website source sources reference references from to cc bcc subject re fwd title name names age",
    "role job company team project task tasks issue issues bug bugs fix question questions answer answers q a option options",
    "step steps part chapter section page figure table list item items ingredients directions instructions recipe method",
    "pros cons budget cost costs price prices total amount quantity size weight height color colour type kind category tags",
    "version language country city state gender birthday hobby hobbies likes dislikes favorites favourites interests skills",
    "experience education work home today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december morning afternoon evening",
    "breakfast lunch dinner plan plans schedule meeting event events memory memories fact facts preference preferences",
    "problem solution input output error errors request response http https quote also first second third finally remember",
    "week weekend month year bonus rule rules key value default config password username id code day opinion idea ideas",
  ]
    .join(" ")
    .split(" "),
);

/** Labels of the agent's own turns; what it says is its experience. */
export const agentLabels: ReadonlySet<string> = new Set("assistant ai bot model agent chatbot gpt".split(" "));

/** Labels of roles other than the agent; who stands behind them is not known by name. */
export const partnerLabels: ReadonlySet<string> = new Set("user human customer client system tool caller interviewer".split(" "));

/** Talk rather than notes: somebody addresses somebody. */
export const conversational =
  /[?!]|\b(?:i|i['’]\w+|me|my|we|we['’]\w+|our|us|you|your|you['’]\w+|hey|hi|hello|thanks|yeah|yes|wow|sure|okay|let['’]s)\b/i;
