/**
 * `initialize`: what is asked for, whether what came back is this protocol and what was asked for, and whether the agent's
 * own limits, where they are lower than ours, leave room for the registered tools.
 * base-protocol section 3; client-tools, Negotiate once; product section 5, Time and Ids.
 */
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CLIENT_TOOLS, TOOL_CARDS } from "../protocol/Capability.ts"
import * as CompactJson from "../protocol/CompactJson.ts"
import { decodeResult } from "../protocol/DecodeResult.ts"
import type { EffectiveDescriptor } from "../protocol/Descriptor.ts"
import type { AnnouncedClientToolLimits, InitializeResult } from "../protocol/Initialize.ts"
import type { JsonObject } from "../protocol/Json.ts"
import { InitializeFailed, LimitExceeded, type RequestError } from "./AgentErrors.ts"
import type { Connection } from "./Connection.ts"
import type { TransportLost } from "./TransportLost.ts"

/** An `initialize` that is not answered in this time has failed. */
export const INITIALIZE_MS = 30_000

/** What a client cannot do without; `client.tools` is added where there are tools. */
const required = ["session.create", "turn.start", "turn.cancel"]

const paramsOf = (descriptors: ReadonlyArray<EffectiveDescriptor>, cards: boolean): JsonObject => ({
  required_capabilities: [
    ...(descriptors.length > 0 ? [CLIENT_TOOLS] : []),
    ...required,
    ...(cards ? [TOOL_CARDS] : [])
  ],
  ...(descriptors.length > 0 ? { client_tools: descriptors } : {})
})

const unsuitable = (reason: string, path?: string) =>
  new InitializeFailed({ code: "unsuitable", reason, ...(path === undefined ? {} : { path }) })

const check = (
  result: JsonObject,
  descriptors: ReadonlyArray<EffectiveDescriptor>,
  cards: boolean
): Result.Result<InitializeResult, InitializeFailed> => {
  const decoded = decodeResult("initialize", result)
  if (Result.isFailure(decoded)) {
    return Result.fail(unsuitable(`its answer ${decoded.failure.message}`, decoded.failure.path))
  }
  const agent = decoded.success
  const { required_capabilities } = paramsOf(descriptors, cards)
  for (const name of Array.isArray(required_capabilities) ? required_capabilities : []) {
    if (!agent.capabilities.includes(name)) return Result.fail(unsuitable(`it does not announce ${name}`))
  }
  if (descriptors.length > 0) {
    const names = agent.client_tools?.tools ?? []
    if (names.length !== descriptors.length || descriptors.some((one, index) => one.name !== names[index])) {
      return Result.fail(unsuitable("it did not register the tools", "/client_tools/tools"))
    }
  }
  return Result.succeed(agent)
}

/** Initializes the agent. */
export const initialize = (
  connection: Connection,
  descriptors: ReadonlyArray<EffectiveDescriptor>,
  cards: boolean
): Effect.Effect<InitializeResult, InitializeFailed | TransportLost> =>
  connection
    .request("initialize", paramsOf(descriptors, cards), (result) => check(result, descriptors, cards))
    .pipe(
      Effect.timeoutOrElse({
        duration: INITIALIZE_MS,
        orElse: () =>
          Effect.fail(
            new InitializeFailed({ code: "timeout", reason: `it did not answer within ${INITIALIZE_MS / 1000} s` })
          )
      }),
      Effect.mapError((error) => (isRequestError(error) ? failedBy(error) : error)),
      Effect.flatMap(Effect.fromResult)
    )

const isRequestError = (error: RequestError | TransportLost | InitializeFailed): error is RequestError =>
  error._tag !== "TransportLost" && error._tag !== "InitializeFailed"

const failedBy = (error: RequestError): InitializeFailed =>
  error._tag === "RequestFailed"
    ? new InitializeFailed({
        code: error.code,
        reason: error.reason,
        ...(error.path === undefined ? {} : { path: error.path })
      })
    : new InitializeFailed({ code: "limit", reason: error.message })

/**
 * Whether the tools keep the limits that the agent announced. Ours were checked when the tools were made; lower ones refuse
 * the turn before it starts.
 */
export const registryMisfit = (
  descriptors: ReadonlyArray<EffectiveDescriptor>,
  limits: AnnouncedClientToolLimits
): LimitExceeded | undefined => {
  const over = (limit: keyof AnnouncedClientToolLimits, measured: number, what: string) =>
    measured > limits[limit]
      ? new LimitExceeded({ limit, reason: `${what}: ${measured}, and the agent takes at most ${limits[limit]}` })
      : undefined
  for (const one of descriptors) {
    const found =
      over("name_bytes", Buffer.byteLength(one.name), `the name of ${one.name}`) ??
      over("description_bytes", Buffer.byteLength(one.description), `the description of ${one.name}`) ??
      over("schema_bytes", CompactJson.byteLength(one.input_schema), `the schema of ${one.name}`) ??
      over("schema_depth", CompactJson.depth(one.input_schema), `the schema of ${one.name}`) ??
      over("max_timeout_ms", one.timeout_ms, `timeout_ms of ${one.name}`)
    if (found) return found
  }
  return (
    over("tools", descriptors.length, "registered tools") ??
    over("registry_bytes", CompactJson.byteLength([...descriptors]), "the registry")
  )
}
