/** What is used of the global `WebAssembly`: Node has it, the types that come without a browser's do not. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number })
    readonly buffer: ArrayBuffer
  }
}
