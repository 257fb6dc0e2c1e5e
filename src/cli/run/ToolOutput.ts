/**
 * What tools write to stdout goes to stderr: stdout is the answer's, or the lines' of `--json`. That holds for `console.log`
 * and `process.stdout`, for file descriptor 1, and for child processes that would inherit it. On a terminal it is escaped, as
 * everything of a tool is. product section 5, `run`.
 */
import childProcess from "node:child_process"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { StringDecoder } from "node:string_decoder"
import { escapeText } from "./escapeText.ts"

/** Puts text on stderr, raw. */
export type WriteError = (text: string) => void

const STDOUT = 1
const STDERR = 2

/**
 * Redirects, from now on and for the rest of the process. To be called before a tools file is loaded, and after the own
 * writers of both streams are taken (`takeStreams`).
 */
export const redirect = (write: WriteError, escape: boolean): void => {
  const shown = escape ? escapeText : (text: string) => text
  replaceWrite(process.stdout, (text) => write(shown(text)))
  if (escape) replaceWrite(process.stderr, (text) => write(shown(text)))
  replaceDescriptorWrites()
  replaceInheritance()
  syncBuiltinESMExports()
}

const replaceWrite = (stream: NodeJS.WriteStream, put: (text: string) => void) => {
  const decoder = new StringDecoder("utf8")
  const write = (chunk: unknown, encoding?: unknown, done?: unknown): boolean => {
    if (chunk instanceof Uint8Array) put(decoder.write(Buffer.from(chunk)))
    else if (typeof chunk === "string") {
      const isText = typeof encoding !== "string" || /^utf-?8$/i.test(encoding)
      put(isText ? chunk : decoder.write(Buffer.from(chunk, encoding as BufferEncoding)))
    } else throw new TypeError("the chunk must be a string or bytes")
    const callback = typeof encoding === "function" ? encoding : done
    if (typeof callback === "function") process.nextTick(callback)
    return true
  }
  Reflect.set(stream, "write", write)
}

/** `fs.writeSync(1, …)` and its kin. */
const replaceDescriptorWrites = () => {
  for (const name of ["write", "writeSync", "writev", "writevSync"] as const) {
    const original: unknown = fs[name]
    if (typeof original !== "function") continue
    const replaced = (descriptor: unknown, ...rest: ReadonlyArray<unknown>): unknown =>
      original(descriptor === STDOUT ? STDERR : descriptor, ...rest)
    Reflect.set(fs, name, Object.assign(replaced, original))
  }
}

/** Children whose stdout would be ours. */
const replaceInheritance = () => {
  const { prototype } = childProcess.ChildProcess
  const spawn: unknown = Reflect.get(prototype, "spawn")
  if (typeof spawn === "function") {
    Reflect.set(prototype, "spawn", function (this: unknown, options: unknown) {
      return spawn.call(this, withStdio(options))
    })
  }
  for (const name of ["spawnSync", "execSync", "execFileSync"] as const) {
    const original: unknown = childProcess[name]
    if (typeof original !== "function") continue
    const replaced = (...args: ReadonlyArray<unknown>): unknown => original(...args.map(withStdio))
    Reflect.set(childProcess, name, replaced)
  }
}

/** The options with their `stdio` turned; anything else as it is. */
const withStdio = (options: unknown): unknown => {
  if (typeof options !== "object" || options === null || Array.isArray(options) || !("stdio" in options)) return options
  const { stdio } = options
  if (stdio === "inherit") return { ...options, stdio: ["inherit", STDERR, "inherit"] }
  if (!Array.isArray(stdio)) return options
  return { ...options, stdio: stdio.map((one, index) => (isOurStdout(one, index) ? STDERR : one)) }
}

const isOurStdout = (one: unknown, index: number): boolean =>
  one === STDOUT || one === process.stdout || (one === "inherit" && index === STDOUT)
