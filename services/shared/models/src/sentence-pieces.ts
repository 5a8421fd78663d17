/** Pieces with their log-probabilities, in the order of their ids. */
export type Vocabulary = readonly (readonly [piece: string, logProbability: number])[];

export interface SplitText {
  /** Piece ids, runs of unknown characters as one `UNKNOWN_ID`. */
  readonly ids: number[];
  /**
   * Mean negative log-probability per character: how unlike the text is to what the vocabulary was made from. English
   * sentences lie near 1.7 and seldom above 3.3, German or Spanish ones near 3.7, unknown scripts near 12.
   */
  readonly surprise: number;
}

export type SplitIntoPieces = (text: string) => SplitText;

/** Stands for whatever the vocabulary has no piece for. */
const UNKNOWN_ID = 0;
/** The first ids are control symbols, which never come from text. */
const CONTROL_IDS = 6;
/** Marks the start of a word; a space is written as it. */
const WORD_START = "\u2581";
/** What an unknown character costs in `surprise`: about the rarest piece of the vocabulary. */
const UNKNOWN_SURPRISE = 12;

interface TrieNode {
  readonly next: Map<string, TrieNode>;
  /** -1 where no piece ends. */
  id: number;
}

/**
 * Splits text into the likeliest pieces of a unigram vocabulary (Viterbi over a trie; linear in the text's length).
 * Gives the ids that the encoder was trained with, ties included: the later start wins.
 */
export function createSentencePieces(vocabulary: Vocabulary): SplitIntoPieces {
  const root = buildTrie(vocabulary);

  return (text) => {
    const normalised = text.normalize("NFKC");
    if (normalised.length === 0) return { ids: [], surprise: 0 };
    const symbols = [...(WORD_START + normalised.replaceAll(" ", WORD_START))];
    const score = new Float64Array(symbols.length + 1);
    const endingId = new Int32Array(symbols.length + 1);

    const offer = (end: number, id: number, total: number): void => {
      // 0 means "not reached yet": log-probabilities of reached places are negative, but for an all-unknown start.
      if (score[end] !== 0 && total < score[end]!) return;
      score[end] = total;
      endingId[end] = id;
    };
    for (let start = 0; start < symbols.length; start++) {
      let found = false;
      let node = root.next.get(symbols[start]!);
      for (let end = start + 1; node; end++) {
        if (node.id >= 0) {
          found = true;
          offer(end, node.id, score[start]! + vocabulary[node.id]![1]);
        }
        node = end < symbols.length ? node.next.get(symbols[end]!) : undefined;
      }
      if (!found) offer(start + 1, UNKNOWN_ID, score[start]!);
    }
    return walkBack(vocabulary, endingId, symbols.length);
  };
}

function walkBack(vocabulary: Vocabulary, endingId: Int32Array, length: number): SplitText {
  const ids: number[] = [];
  let surprise = 0;
  for (let end = length; end > 0; ) {
    const id = endingId[end]!;
    const [piece, logProbability] = vocabulary[id]!;
    surprise += id === UNKNOWN_ID ? UNKNOWN_SURPRISE : -logProbability;
    if (id !== UNKNOWN_ID || ids.at(-1) !== UNKNOWN_ID) ids.push(id);
    // Every piece lies in the basic plane, so its length counts symbols.
    end -= piece.length;
  }
  return { ids: ids.reverse(), surprise: surprise / length };
}

function buildTrie(vocabulary: Vocabulary): TrieNode {
  const root: TrieNode = { next: new Map(), id: -1 };
  for (let id = CONTROL_IDS; id < vocabulary.length; id++) {
    let node = root;
    for (const symbol of vocabulary[id]![0]) {
      let next = node.next.get(symbol);
      if (!next) {
        next = { next: new Map(), id: -1 };
        node.next.set(symbol, next);
      }
      node = next;
    }
    node.id = id;
  }
  return root;
}
