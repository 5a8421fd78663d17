/** The few parts of WebAssembly that our kernels use. Node has it, but neither its types nor the ES library declare it. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { readonly initial: number; readonly maximum?: number });
    /** A new buffer after each growth; the old one is then empty. */
    readonly buffer: ArrayBuffer;
    /** Adds pages of 64 KiB. Throws `RangeError` when they cannot be had. */
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
