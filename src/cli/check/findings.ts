/** What is found of each tool: every fault with its place, what it uses of each bound, its fingerprint. */
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ArgumentsCompiler, makeCompiler } from "../../client/ArgumentsSchema.ts"
import { faultOfSet, registeredName } from "../../client/Registry.ts"
import * as CompactJson from "../../protocol/CompactJson.ts"
import { decodeDescriptor, type EffectiveDescriptor } from "../../protocol/Descriptor.ts"
import { fingerprint } from "../../protocol/Fingerprint.ts"
import { isJsonObject, type Json, type JsonObject } from "../../protocol/Json.ts"
import { ClientToolLimits } from "../../protocol/Limits.ts"
import type { ParamsFault } from "../../protocol/Params.ts"
import type { NamedDraft } from "./drafts.ts"
import { withoutAt } from "./withoutAt.ts"

/** Bytes, containers or milliseconds used of a bound. */
export interface Use {
  readonly bound: keyof typeof ClientToolLimits
  readonly used: number
  readonly most: number
}

export interface ToolFindings {
  /** As it would be registered. */
  readonly name: string
  readonly uses: ReadonlyArray<Use>
  readonly faults: ReadonlyArray<ParamsFault>
  /** Absent where the tool cannot be registered. */
  readonly fingerprint?: string
}

export interface Findings {
  readonly tools: ReadonlyArray<ToolFindings>
  readonly setUses: ReadonlyArray<Use>
  readonly setFaults: ReadonlyArray<ParamsFault>
}

/** Faults of one tool that are told; a schema with more of them needs another look anyway. */
const MOST_FAULTS = 64

/** Examines all tools; none of them hides another's faults. */
export const examine = Effect.fnUntraced(function* (drafts: ReadonlyArray<NamedDraft>) {
  const compiler = yield* makeCompiler
  const registered: Array<EffectiveDescriptor> = []
  const tools = drafts.map(({ draft, name }): ToolFindings => {
    if (Result.isFailure(draft)) {
      const { path, reason } = draft.failure
      const fault = path === undefined ? { message: reason } : { message: reason, path }
      return { name, uses: [], faults: [fault] }
    }
    const descriptor = { ...draft.success.descriptor, name: registeredName(name) }
    const faults = faultsOf(descriptor, compiler)
    const uses = usesOf(descriptor)
    const decoded = decodeDescriptor(descriptor, "")
    if (faults.length > 0 || Result.isFailure(decoded)) return { name: descriptor.name, uses, faults }
    registered.push(decoded.success)
    return { name: descriptor.name, uses, faults, fingerprint: fingerprint(decoded.success) }
  })
  const setFault = faultOfSet(registered)
  return {
    tools,
    setUses: [use("tools", drafts.length), use("registry_bytes", CompactJson.byteLength(registered))],
    setFaults: setFault === undefined ? tooMany(drafts.length) : [{ message: setFault.message }]
  } satisfies Findings
})

/** Counted over all tools, refused ones too. */
const tooMany = (count: number): ReadonlyArray<ParamsFault> =>
  count > ClientToolLimits.tools ? [{ message: `at most ${ClientToolLimits.tools} tools can be registered` }] : []

const use = (bound: Use["bound"], used: number): Use => ({ bound, used, most: ClientToolLimits[bound] })

/**
 * All faults, by the broker's own validator: it tells the first one, so what it points at is taken out and it is asked again.
 */
const faultsOf = (descriptor: JsonObject, compiler: ArgumentsCompiler): ReadonlyArray<ParamsFault> => {
  const faults: Array<ParamsFault> = []
  let rest: Json | undefined = descriptor
  while (isJsonObject(rest) && faults.length < MOST_FAULTS) {
    const decoded = decodeDescriptor(rest, "")
    if (Result.isSuccess(decoded)) {
      const schema = compiler.compile(decoded.success.input_schema)
      if (Result.isSuccess(schema)) return faults
      const fault = { ...schema.failure, path: `/input_schema${schema.failure.path ?? ""}` }
      faults.push(fault)
      rest = withoutAt(rest, fault.path)
      continue
    }
    const fault = decoded.failure
    faults.push(fault)
    rest = repaired(rest, fault)
  }
  return faults
}

/** The descriptor with what a fault points at mended or taken out; `undefined`: there is nothing more to look at. */
const repaired = (descriptor: JsonObject, { path }: ParamsFault): Json | undefined => {
  if (path === "/name") return { ...descriptor, name: registeredName("x") }
  if (path === "/description") return { ...descriptor, description: "x" }
  if (path === undefined || path === "/input_schema") return undefined
  return withoutAt(descriptor, path)
}

const usesOf = (descriptor: JsonObject): ReadonlyArray<Use> => {
  const { description, input_schema, name, timeout_ms = ClientToolLimits.default_timeout_ms } = descriptor
  return [
    ...(typeof name === "string" ? [use("name_bytes", Buffer.byteLength(name))] : []),
    ...(typeof description === "string" ? [use("description_bytes", Buffer.byteLength(description))] : []),
    ...(input_schema === undefined
      ? []
      : [
          use("schema_bytes", CompactJson.byteLength(input_schema)),
          use("schema_depth", CompactJson.depth(input_schema))
        ]),
    ...(typeof timeout_ms === "number" ? [use("max_timeout_ms", timeout_ms)] : [])
  ]
}
