/**
 * The prelude as the thread uses it: texts in, texts out, each measured before it is copied.
 *
 * Every handle is a piece of the engine's own memory, so all are given back at once, or the script would pay for them.
 */
import { Buffer } from "node:buffer"
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten"
import { prelude } from "./prelude.ts"

/** A step inside the engine that ended in an exception. */
export class EngineException extends Error {
  readonly error: QuickJSHandle

  constructor(error: QuickJSHandle) {
    super("exception in the engine")
    this.error = error
  }
}

/** There is no room for a value on its way in. Where a script sees it, it looks like the engine's own. */
export class HeapFull extends Error {
  override readonly name = "InternalError"

  constructor() {
    super("out of memory")
  }
}

/** Longer than any text the prelude gives of its own: a script's source with every character escaped. */
const TEXT_CHARACTERS = 512 * 1024

export class EngineLibrary {
  private readonly vm: QuickJSContext
  private readonly library: QuickJSHandle

  /** @param host the functions the prelude may call (`EngineTools`) */
  constructor(vm: QuickJSContext, host: QuickJSHandle) {
    this.vm = vm
    const make = vm.unwrapResult(vm.evalCode(prelude, "prelude.js", { strict: true }))
    this.library = vm.unwrapResult(vm.callFunction(make, vm.undefined, host))
  }

  /** Makes `tools` a global of the script. */
  install(): void {
    this.call("install", this.vm.undefined).dispose()
  }

  /** Compact JSON of a value; `undefined` where JSON has nothing for it, `too_large` beyond `characters`. */
  encode(value: QuickJSHandle, characters: number): { readonly text: string } | "undefined" | "too_large" {
    return this.call("encode", value).consume((encoded) => {
      if (this.vm.typeof(encoded) !== "string") return "undefined"
      const text = readText(this.vm, encoded, characters)
      return text === undefined ? "too_large" : { text }
    })
  }

  /** An exception as its text and its stack. Its own properties are read inside the engine, and may run code there. */
  explain(error: QuickJSHandle): readonly [text: string, stack: string] {
    return JSON.parse(this.text("explain", error))
  }

  /** The source text of a function; empty for what is no function. */
  sourceOf(value: QuickJSHandle): string {
    const text = this.text("source", value)
    return text === "" ? "" : JSON.parse(text)
  }

  /** The value of a JSON text, for the caller to dispose of. */
  parse(json: string): QuickJSHandle {
    return this.newText(json).consume((text) => this.call("parse", text))
  }

  /** A string of the engine. The bindings do not look whether memory for it was given; so it is asked for beforehand. */
  newText(text: string): QuickJSHandle {
    try {
      this.vm.newNumber(Buffer.byteLength(text) + 1).consume((bytes) => this.call("fits", bytes).dispose())
    } catch {
      throw new HeapFull()
    }
    return this.vm.newString(text)
  }

  private text(name: string, value: QuickJSHandle): string {
    return this.call(name, value).consume((result) => readText(this.vm, result, TEXT_CHARACTERS) ?? "")
  }

  private call(name: string, value: QuickJSHandle): QuickJSHandle {
    const result = this.vm.getProp(this.library, name).consume((f) => this.vm.callFunction(f, this.vm.undefined, value))
    if (result.error) throw new EngineException(result.error)
    return result.value
  }
}

/** A string of the engine, or `undefined` where it is none or a longer one. Nothing is copied before it is measured. */
export const readText = (vm: QuickJSContext, handle: QuickJSHandle, characters: number): string | undefined => {
  if (vm.typeof(handle) !== "string") return undefined
  // A script cannot replace the length of a string.
  const length = vm.getProp(handle, "length").consume((value) => vm.getNumber(value))
  return length <= characters ? vm.getString(handle) : undefined
}
