/**
 * One QuickJS, for one script. Lives in a thread of its own (`codeModeWorker.ts`), which is ended with the script: the
 * engine as a whole is never disposed of, since it may abort while it is, and the thread's end frees everything.
 *
 * base-protocol section 7.
 */
import { Buffer } from "node:buffer"
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  RELEASE_SYNC
} from "quickjs-emscripten"
import { EngineException, EngineLibrary, HeapFull } from "./EngineLibrary.ts"
import { EngineTools } from "./EngineTools.ts"
import type { CallSettled, FromThread, RunScript, ScriptFault } from "./Messages.ts"

const PAGE_BYTES = 65_536
/** What the engine itself takes of its memory beside the heap: its stack and its tables. Measured. */
const ENGINE_BYTES = 6 * 1024 * 1024
/** The engine is built to begin with so much. */
const FIRST_PAGES = 256
/**
 * The engine's own bound on recursion, in bytes of its stack. The thread's native stack (`SandboxThread`) must overflow
 * much later: the engine does not survive that.
 */
const STACK_BYTES = 256 * 1024
/** With so much of its memory taken, an exception without a value is the engine's: there was no room for one. */
const NEARLY_FULL = 0.9

const FILE = "script.js"
const OPENING = "(async function () {\n"
const CLOSING = "\n})"

/** The line that a stack names first, within the script: one that ends too early fails after its last. */
const lineOf = (stack: string, code: string): number | null => {
  const found = /script\.js:(\d+)/.exec(stack)
  return found ? Math.min(Math.max(1, Number(found[1]) - 1), code.split("\n").length) : null
}

export class ScriptEngine {
  private readonly vm: QuickJSContext
  private readonly memory: WebAssembly.Memory
  private readonly maxBytes: number
  private readonly send: (message: FromThread) => void
  private readonly tools: EngineTools
  private readonly library: EngineLibrary
  private running: { readonly script: RunScript; readonly promise: QuickJSHandle } | undefined
  private code = ""
  private isOver = false

  private constructor(
    vm: QuickJSContext,
    memory: WebAssembly.Memory,
    maxBytes: number,
    send: (message: FromThread) => void
  ) {
    this.vm = vm
    this.memory = memory
    this.maxBytes = maxBytes
    this.send = send
    this.tools = new EngineTools(vm, send)
    this.library = new EngineLibrary(vm, this.tools.host())
  }

  /**
   * Loads an engine whose heap is `heapBytes`. Its own memory limit counts next to nothing in this build, so the bound is
   * the memory itself, which cannot grow beyond it.
   */
  static async load(heapBytes: number, send: (message: FromThread) => void): Promise<ScriptEngine> {
    const pages = Math.max(FIRST_PAGES, Math.ceil((heapBytes + ENGINE_BYTES) / PAGE_BYTES))
    const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: pages })
    const module = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory: memory }))
    const runtime = module.newRuntime({ memoryLimitBytes: heapBytes, maxStackSizeBytes: STACK_BYTES })
    return new ScriptEngine(runtime.newContext(), memory, pages * PAGE_BYTES, send)
  }

  /** Runs a script until it has to wait. What it has to say goes through `send`. */
  run(script: RunScript): void {
    this.guarded("exception", () => {
      this.code = script.code
      this.tools.start(script, this.library)
      const source = `${OPENING}${script.code}${CLOSING}`
      const body = this.valueOf(this.vm.evalCode(source, FILE))
      // A script that closes the function it is the body of is not one, even where the whole happens to parse.
      if (this.library.sourceOf(body) !== source.slice(1, -1)) {
        return this.fail("exception", "SyntaxError: the script closes the function that it is the body of")
      }
      this.library.install()
      this.running = { script, promise: this.valueOf(this.vm.callFunction(body, this.vm.undefined)) }
    })
    this.proceed()
  }

  /** Gives an inner call its result and goes on. */
  settle(call: CallSettled): void {
    this.guarded("exception", () => this.tools.settle(call))
    this.proceed()
  }

  /** Runs what can run now, then sees how the script stands. */
  private proceed(): void {
    const running = this.running
    if (!running) return
    this.guarded("exception", () => {
      const jobs = this.vm.runtime.executePendingJobs()
      if (jobs.error) throw new EngineException(jobs.error)
      const state = this.vm.getPromiseState(running.promise)
      if (state.type === "rejected") throw new EngineException(state.error)
      if (state.type === "fulfilled") return this.guarded("value", () => this.finish(running.script, state.value))
      // There are no timers and no events: only an inner call can make it go on.
      if (this.tools.unfinished === 0) this.fail("stuck")
    })
  }

  private finish(script: RunScript, value: QuickJSHandle): void {
    const bound = script.bounds.returned_bytes
    const encoded = this.library.encode(value, bound)
    if (encoded === "undefined") this.end({ type: "returned", value: "null" })
    else if (encoded === "too_large" || Buffer.byteLength(encoded.text) > bound) this.fail("returned_bytes")
    else this.end({ type: "returned", value: encoded.text })
  }

  private valueOf(result: ReturnType<QuickJSContext["evalCode"]>): QuickJSHandle {
    if (result.error) throw new EngineException(result.error)
    return result.value
  }

  /** One step in the engine. Whatever goes wrong in it ends the script. */
  private guarded(fault: ScriptFault, step: () => void): void {
    if (this.isOver) return
    try {
      step()
    } catch (error) {
      if (error instanceof HeapFull) this.fail("heap")
      else if (error instanceof EngineException) this.tell(fault, error.error)
      // The engine aborted, or the native stack overflowed: it is not to be used any more.
      else this.fail("engine")
    }
  }

  private tell(fault: ScriptFault, error: QuickJSHandle): void {
    const isNull = this.vm.typeof(error) === "object" && this.vm.eq(error, this.vm.null)
    const isNearlyFull = this.memory.buffer.byteLength > this.maxBytes * NEARLY_FULL
    try {
      const [text, stack] = this.library.explain(error)
      const isFull = (isNull && isNearlyFull) || text.startsWith("InternalError: out of memory")
      this.fail(isFull ? "heap" : fault, text, lineOf(stack, this.code))
    } catch (failure) {
      if (!(failure instanceof EngineException)) this.fail("engine")
      // Telling takes next to nothing: where it fails there is nothing left, or the script broke what it takes.
      else if (isNearlyFull) this.fail("heap")
      else this.fail(fault, "an exception that cannot be shown")
    }
  }

  private fail(fault: ScriptFault, text = "", line: number | null = null): void {
    this.end({ type: "failed", fault, text, line })
  }

  private end(message: FromThread): void {
    if (this.isOver) return
    this.isOver = true
    this.send(message)
  }
}
