/**
 * Making a set of client tools: names get their prefix, descriptors are checked with the broker's own validator, schemas
 * are compiled, and the set as a whole keeps its bounds. client-tools, Bounds and schemas; product sections 1 and 4.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { decodeDescriptor, decodeRegistry, type EffectiveDescriptor } from "../protocol/Descriptor.ts"
import type { Json } from "../protocol/Json.ts"
import type { ParamsFault } from "../protocol/Params.ts"
import { ToolRefused } from "./AgentErrors.ts"
import { type ArgumentsCompiler, type ArgumentsSchema, makeCompiler } from "./ArgumentsSchema.ts"
import type { ClientTool, ClientTools } from "./ClientTool.ts"

const PREFIX = "client__"

/** Puts `client__` before a name that does not begin with it. */
export const registeredName = (name: string): string => (name.startsWith(PREFIX) ? name : `${PREFIX}${name}`)

/** A tool before its descriptor was checked. `name` is as given. */
export interface Draft {
  readonly name: string
  /** Members other than the name. */
  readonly descriptor: { readonly [member: string]: Json }
  /** Makes the tool once its descriptor holds and its schema is compiled. */
  readonly build: (descriptor: EffectiveDescriptor, schema: ArgumentsSchema) => ClientTool["run"]
}

const refused = (tool: string | undefined, fault: ParamsFault): ToolRefused =>
  new ToolRefused({
    reason: fault.message,
    ...(tool === undefined ? {} : { tool }),
    ...(fault.path === undefined ? {} : { path: fault.path })
  })

/** Checks one draft by itself. */
const check = (draft: Draft, compiler: ArgumentsCompiler): Result.Result<ClientTool, ToolRefused> => {
  const decoded = decodeDescriptor({ ...draft.descriptor, name: registeredName(draft.name) }, "")
  if (Result.isFailure(decoded)) return Result.fail(refused(draft.name, decoded.failure))
  const descriptor = decoded.success
  const schema = compiler.compile(descriptor.input_schema)
  if (Result.isFailure(schema)) {
    const path = `/input_schema${schema.failure.path ?? ""}`
    return Result.fail(refused(draft.name, { message: schema.failure.message, path }))
  }
  return Result.succeed({ descriptor, run: draft.build(descriptor, schema.success) })
}

/** The first fault of a set of checked tools: their count, equal names, their bytes together. */
export const faultOfSet = (
  descriptors: ReadonlyArray<EffectiveDescriptor>,
  names: ReadonlyArray<string> = descriptors.map((one) => one.name)
): ToolRefused | undefined => {
  const seen = new Set<string>()
  for (const [index, one] of descriptors.entries()) {
    if (seen.has(one.name)) {
      return new ToolRefused({
        tool: names[index] ?? one.name,
        reason: `another tool is registered as ${one.name} already`
      })
    }
    seen.add(one.name)
  }
  const whole = decodeRegistry([...descriptors])
  return Result.isFailure(whole) ? refused(undefined, whole.failure) : undefined
}

/** Makes the set, or fails with the first fault. */
export const make = Effect.fnUntraced(function* (drafts: ReadonlyArray<Draft>) {
  const compiler = yield* makeCompiler
  const tools: Array<ClientTool> = []
  for (const draft of drafts) tools.push(yield* Effect.fromResult(check(draft, compiler)))
  const descriptors = tools.map((tool) => tool.descriptor)
  const fault = faultOfSet(
    descriptors,
    drafts.map((draft) => draft.name)
  )
  if (fault !== undefined) return yield* fault
  return { tools } satisfies ClientTools
})

/** Joins sets of tools into one, which must keep the bounds of one. */
export const merge = (...sets: ReadonlyArray<ClientTools>): Effect.Effect<ClientTools, ToolRefused> =>
  Effect.suspend(() => {
    const tools = sets.flatMap((set) => set.tools)
    const fault = faultOfSet(tools.map((tool) => tool.descriptor))
    return fault === undefined ? Effect.succeed({ tools }) : Effect.fail(fault)
  })
