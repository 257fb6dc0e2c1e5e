/**
 * A tools file: loaded with tsx where that makes a difference, its default export either `{ toolkit, layer }` or an array of
 * plain tools. Every fault is one line that names the file. product section 1.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { basename, extname, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { Any } from "effect/ai/Tool"
import type { Toolkit } from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ClientTools } from "../../client/ClientTool.ts"
import * as PlainTools from "../../client/PlainTools.ts"
import type { EffectCopy } from "./oneEffect.ts"

/** The file cannot be used. `message` is one line that names it. */
export class ToolsFileRefused extends Data.TaggedError("ToolsFileRefused")<{
  readonly file: string
  readonly reason: string
  /** What was thrown, for `--log-level debug`. */
  readonly thrown?: unknown
}> {
  override get message(): string {
    return `${this.file}: ${this.reason}`
  }
}

export type ToolsExport =
  | { readonly _tag: "Plain"; readonly tools: ReadonlyArray<unknown> }
  | {
      readonly _tag: "Toolkit"
      readonly toolkit: Toolkit<Record<string, Any>>
      readonly layer: Layer.Layer<unknown, unknown>
    }

const WANTED = "its default export must be { toolkit, layer } or an array of tools"

/** Loads the file and looks at its default export; `file` is as given by the user. */
export const load = Effect.fnUntraced(function* (file: string, misfit: EffectCopy | undefined) {
  const refuse = (reason: string, thrown?: unknown) => new ToolsFileRefused({ file, reason, thrown })
  const path = resolve(file)
  if (!existsSync(path)) return yield* refuse("there is no such file")
  if (!statSync(path).isFile()) return yield* refuse("is not a file")
  const real = realpathSync(path)
  if (needsTsx(real)) {
    const { register } = yield* Effect.promise(() => import("tsx/esm/api"))
    // For the rest of the process: a handler may import more when it runs.
    register()
  }
  const imported = Effect.tryPromise({
    try: (): Promise<unknown> => import(pathToFileURL(real).href),
    catch: (thrown) => refuse(reasonOf(thrown, path), thrown)
  })
  const stuck = Effect.andThen(nothingLeftToDo, refuse("it never finishes loading: a top-level await does not settle"))
  const module = yield* Effect.raceFirst(imported, stuck)
  const exported = defaultOf(module)
  if (exported === undefined) return yield* refuse(`it has no default export; ${WANTED}`)
  if (Array.isArray(exported)) return { _tag: "Plain", tools: exported } satisfies ToolsExport
  if (typeof exported !== "object" || exported === null || !("toolkit" in exported)) return yield* refuse(WANTED)
  if (misfit !== undefined) {
    return yield* refuse(`it uses effect ${misfit.version}; a toolkit must be of effect 4.1 or a later 4`)
  }
  const { isToolkit } = yield* Effect.promise(() => import("../../client/ToolkitTools.ts"))
  if (!isToolkit(exported.toolkit)) return yield* refuse("toolkit is not a Toolkit of effect/ai")
  if (!("layer" in exported) || !Layer.isLayer(exported.layer)) {
    return yield* refuse("layer is not a Layer with the handlers of the toolkit")
  }
  // What a layer of a foreign file needs cannot be known here; what it lacks fails when it is built.
  const layer = exported.layer as Layer.Layer<unknown, unknown>
  return { _tag: "Toolkit", toolkit: exported.toolkit, layer } satisfies ToolsExport
})

/**
 * False where tsx makes no difference and only takes time: JavaScript modules that load nothing, now or later. `from` before
 * a string is a re-export; `createRequire` loads too, `required` does not.
 */
const needsTsx = (path: string): boolean => {
  if (extname(path) !== ".mjs") return true
  try {
    return /\bimport\b|require\b|\bfrom\s*(?:["']|\/[/*])/i.test(readFileSync(path, "utf8"))
  } catch {
    // The import says why it cannot be read.
    return true
  }
}

/** Makes the client tools of a file. The layer of a toolkit lives in the current scope. */
export const toolsOf = (
  file: string,
  exported: ToolsExport
): Effect.Effect<ClientTools, ToolsFileRefused, Scope.Scope> => {
  const refuse = (reason: string, thrown?: unknown) => new ToolsFileRefused({ file, reason, thrown })
  if (exported._tag === "Plain") {
    return Effect.mapError(PlainTools.fromUnknown(exported.tools), (error) => refuse(error.message))
  }
  return Effect.gen(function* () {
    const built = yield* Effect.exit(Layer.build(exported.layer))
    if (Exit.isFailure(built)) {
      const thrown = Cause.squash(built.cause)
      return yield* refuse(`its layer could not be built: ${firstLine(thrown)}`, thrown)
    }
    const ToolkitTools = yield* Effect.promise(() => import("../../client/ToolkitTools.ts"))
    const missing = Object.values(exported.toolkit.tools).find((tool) => !built.value.mapUnsafe.has(tool.id))
    if (missing !== undefined) return yield* refuse(`its layer has no handler for tool "${String(missing.name)}"`)
    return yield* ToolkitTools.make(exported.toolkit).pipe(
      Effect.provideContext(built.value),
      Effect.mapError((error) => refuse(error.message))
    ) as Effect.Effect<ClientTools, ToolsFileRefused>
  })
}

/** Ends when the process would exit, because nothing is left that could still happen. */
const nothingLeftToDo = Effect.callback<void>((resume) => {
  const onIdle = () => resume(Effect.void)
  process.once("beforeExit", onIdle)
  return Effect.sync(() => process.off("beforeExit", onIdle))
})

/** A module that was compiled to CommonJS has its default export one level deeper. */
const defaultOf = (module: unknown): unknown => {
  if (typeof module !== "object" || module === null || !("default" in module)) return undefined
  const { default: exported } = module
  const isCompiled =
    typeof exported === "object" && exported !== null && "__esModule" in exported && "default" in exported
  return isCompiled ? exported.default : exported
}

/** Why the module could not be loaded, on one line: a transformer's errors have their place on a line of their own. */
const reasonOf = (thrown: unknown, path: string): string => {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const transformed = text.split("\n").find((line) => line.includes("ERROR:"))
  if (transformed !== undefined) {
    const place = /:(\d+:\d+): ERROR: (.*)$/.exec(transformed)
    return place === null ? transformed.trim() : `syntax error at ${place[1]}: ${place[2]}`
  }
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : ""
  const at = stack.indexOf(`${basename(path)}:`)
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + basename(path).length + 1))?.[0]
  const where = line === undefined ? "" : ` (line ${line})`
  const kind = thrown instanceof SyntaxError ? "syntax error: " : "could not be loaded: "
  return `${kind}${firstLine(thrown)}${where}`
}

const firstLine = (thrown: unknown): string => {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return text.split("\n")[0]?.trim() || "it failed without a message"
}
