/**
 * The `host` that the prelude is given: the catalogue, the budget, and the calls that are under way.
 *
 * base-protocol section 7.
 */
import { Buffer } from "node:buffer"
import type { QuickJSContext, QuickJSDeferredPromise, QuickJSHandle } from "quickjs-emscripten"
import { NAME_JSON_CHARACTERS, size } from "./CodeModeLimits.ts"
import { type EngineLibrary, readText } from "./EngineLibrary.ts"
import type { CallSettled, FromThread, ListedTool, RunScript } from "./Messages.ts"

/** A call that is not made, as `tools.call` gives it. */
const refusal = (code: string, message: string): string =>
  JSON.stringify({ success: false, content: { text: message }, error: { code, message } })

const describe = (tool: ListedTool | undefined): string =>
  tool
    ? `{"name":${JSON.stringify(tool.name)},"description":${JSON.stringify(tool.description)},"input_schema":${tool.schema}}`
    : "null"

const summaries = (tools: ReadonlyArray<ListedTool>): string =>
  JSON.stringify(tools.map(({ name, description }) => ({ name, description })))

const search = (tools: ReadonlyArray<ListedTool>, query: string): ReadonlyArray<ListedTool> => {
  const words = query.toLowerCase().split(/\s+/)
  return tools.filter(({ name, description }) => {
    const text = `${name}\n${description}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

export class EngineTools {
  private readonly vm: QuickJSContext
  private readonly send: (message: FromThread) => void
  private readonly open = new Map<number, QuickJSDeferredPromise>()
  private running:
    | { readonly script: RunScript; readonly library: EngineLibrary; readonly startedAt: number }
    | undefined
  private calls = 0
  private argumentBytes = 0
  private bytesLeft = 0

  constructor(vm: QuickJSContext, send: (message: FromThread) => void) {
    this.vm = vm
    this.send = send
  }

  /** Calls that have no result yet. */
  get unfinished(): number {
    return this.open.size
  }

  start(script: RunScript, library: EngineLibrary): void {
    this.running = { script, library, startedAt: performance.now() }
    this.bytesLeft = script.bounds.total_bytes
  }

  /** Fulfils the promise of a call. */
  settle(call: CallSettled): void {
    const promise = this.open.get(call.id)
    if (!promise) return
    this.open.delete(call.id)
    this.bytesLeft = call.bytesLeft
    this.fulfil(promise, call.result)
  }

  /** The object of functions that the prelude is called with. */
  host(): QuickJSHandle {
    const host = this.vm.newObject()
    const texts = {
      list: (script: RunScript) => summaries(script.tools),
      search: (script: RunScript, query: string) => summaries(search(script.tools, query)),
      describe: (script: RunScript, name: string) => describe(script.tools.find((tool) => tool.name === name)),
      budget: () => this.budget()
    }
    for (const [name, text] of Object.entries(texts)) {
      this.expose(host, name, (given) => {
        const { library, script } = this.current()
        const json = given && readText(this.vm, given, NAME_JSON_CHARACTERS)
        // No tool has a name that long, or these characters in its description.
        return library.newText(text(script, json === undefined ? "\u0000" : JSON.parse(json)))
      })
    }
    this.expose(host, "call", (name, args) => this.call(name, args))
    return host
  }

  private current() {
    if (!this.running) throw new Error("no script is running")
    return this.running
  }

  private budget(): string {
    const { script, startedAt } = this.current()
    return JSON.stringify({
      calls_left: Math.max(0, script.bounds.calls - this.calls),
      ms_left: Math.max(0, Math.floor(script.ms - (performance.now() - startedAt))),
      bytes_left: this.bytesLeft
    })
  }

  private call(nameHandle: QuickJSHandle | undefined, args: QuickJSHandle | undefined): QuickJSHandle {
    const { bounds } = this.current().script
    const promise = this.vm.newPromise()
    this.calls += 1
    const refuse = (code: string, message: string) => {
      this.fulfil(promise, refusal(code, message))
      return promise.handle
    }
    if (this.calls > bounds.calls) return refuse("tool_failed", `a script makes at most ${bounds.calls} calls`)
    const name = nameHandle && readText(this.vm, nameHandle, NAME_JSON_CHARACTERS)
    if (name === undefined) return refuse("tool_unknown", "no tool of this name may be called here")

    const isJson = args !== undefined && this.vm.typeof(args) === "string"
    const text = isJson ? readText(this.vm, args, bounds.result_bytes) : null
    const bytes = text ? Buffer.byteLength(text) : 0
    const total = this.argumentBytes + bytes
    if (text === undefined || bytes > bounds.result_bytes || total > bounds.total_bytes) {
      return refuse(
        name.startsWith('"client__') ? "client_tool_payload_limit" : "tool_invalid_arguments",
        `the arguments are larger than ${size(bounds.result_bytes)}, or than ${size(bounds.total_bytes)} in all calls`
      )
    }
    this.argumentBytes = total
    this.open.set(this.calls, promise)
    this.send({ type: "call", id: this.calls, name, args: text })
    return promise.handle
  }

  private fulfil(promise: QuickJSDeferredPromise, json: string): void {
    this.current()
      .library.parse(json)
      .consume((value) => promise.resolve(value))
  }

  private expose(
    host: QuickJSHandle,
    name: string,
    run: (first: QuickJSHandle | undefined, second: QuickJSHandle | undefined) => QuickJSHandle
  ): void {
    this.vm.newFunction(name, (first, second) => run(first, second)).consume((f) => this.vm.setProp(host, name, f))
  }
}
