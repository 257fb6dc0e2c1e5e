/**
 * `initialize`: its preflight, which touches nothing outside its params, and its result.
 *
 * client-tools, Negotiate once; base-protocol section 3.
 */
import * as Result from "effect/Result"
import { announced, CLIENT_TOOLS, TOOL_CARDS } from "./Capability.ts"
import { decodeRegistry, type EffectiveDescriptor } from "./Descriptor.ts"
import type { Json, JsonObject } from "./Json.ts"
import * as JsonPointer from "./JsonPointer.ts"
import { ClientToolLimits, Limits, REQUIRED_CAPABILITIES, REQUIRED_CAPABILITIES_WITH_CLIENT_TOOLS } from "./Limits.ts"
import { decodeParams } from "./Method.ts"
import type { Selection } from "./MethodResult.ts"
import { faultAt, type ParamsFault } from "./Params.ts"

/** What an admitted `initialize` negotiated. */
export interface Admission {
  /** `required_capabilities` as given: unique and all known. */
  readonly capabilities: ReadonlyArray<string>
  /** The whole valid registry in its order; `null` when `client.tools` was not negotiated. */
  readonly clientTools: ReadonlyArray<EffectiveDescriptor> | null
  /** Whether `tool.cards` was negotiated. */
  readonly cards: boolean
}

/** Why a preflight refuses: the error that answers `initialize`. */
export interface PreflightRefusal extends ParamsFault {
  readonly code: "invalid_params" | "unsupported_capability"
}

const refuse = (fault: ParamsFault): Result.Result<never, PreflightRefusal> =>
  Result.fail({ code: "invalid_params", ...fault })

const REQUIRED = "/required_capabilities"
const REGISTRY = "/client_tools"

const decodeCapabilities = (value: Json): Result.Result<ReadonlyArray<string>, ParamsFault> => {
  const fault = (message: string, index?: number) =>
    Result.fail(faultAt(index === undefined ? REQUIRED : JsonPointer.join(REQUIRED, index), message))
  if (!Array.isArray(value)) return fault("must be an array of capability names")
  const most = value.includes(CLIENT_TOOLS) ? REQUIRED_CAPABILITIES_WITH_CLIENT_TOOLS : REQUIRED_CAPABILITIES
  const names = new Set<string>()
  for (const [index, name] of value.entries()) {
    if (typeof name !== "string") return fault("must be a string", index)
    if (names.has(name)) return fault("is listed twice", index)
    names.add(name)
  }
  if (names.size > most) return fault(`must have at most ${most} entries`)
  return Result.succeed([...names])
}

/**
 * The preflight, in its order: shape of params; `required_capabilities`; unknown names; `client_tools` present exactly when
 * negotiated; the whole registry. `known` are the capabilities that are implemented.
 */
export const preflight = (
  params: JsonObject,
  known: ReadonlyArray<string>
): Result.Result<Admission, PreflightRefusal> => {
  const shaped = decodeParams("initialize", params)
  if (Result.isFailure(shaped)) return refuse(shaped.failure)
  const decoded = decodeCapabilities(shaped.success.required_capabilities)
  if (Result.isFailure(decoded)) return refuse(decoded.failure)
  const capabilities = decoded.success
  const unknown = capabilities.findIndex((name) => !known.includes(name))
  if (unknown !== -1) {
    return Result.fail({
      code: "unsupported_capability",
      message: "a required capability is not supported",
      path: JsonPointer.join(REQUIRED, unknown)
    })
  }
  const registry = shaped.success.client_tools
  const cards = capabilities.includes(TOOL_CARDS)
  if (!capabilities.includes(CLIENT_TOOLS)) {
    return registry === undefined
      ? Result.succeed({ capabilities, clientTools: null, cards })
      : refuse(faultAt(REGISTRY, `is forbidden unless ${CLIENT_TOOLS} is required`))
  }
  if (registry === undefined) return refuse({ message: `client_tools is required with ${CLIENT_TOOLS}` })
  const clientTools = decodeRegistry(registry, REGISTRY)
  if (Result.isFailure(clientTools)) return refuse(clientTools.failure)
  return Result.succeed({ capabilities, clientTools: clientTools.success, cards })
}

/** `limits` as another agent may announce them: the same members, other numbers. */
export type AnnouncedLimits = { readonly [Name in keyof typeof Limits]: number }
/** The limits of client tools, as another agent may announce them. */
export type AnnouncedClientToolLimits = { readonly [Name in keyof typeof ClientToolLimits]: number }

/** What the agent says of the tools that it has registered. client-tools, Negotiate once. */
export type ClientToolsAnnouncement = {
  /** Registered names in registration order. */
  readonly tools: ReadonlyArray<string>
  readonly limits: AnnouncedClientToolLimits
}

/** The negotiated extensions with their schemas' versions; a member is absent when it was not negotiated. */
export type Extensions = {
  readonly "tool.cards"?: {
    readonly schema_version: 1
    readonly event: "tool.card"
    readonly history_field: "tool_card"
  }
  readonly "client.tools"?: {
    readonly schema_version: 1
    readonly registration: "startup_only"
  } & ClientToolsAnnouncement
}

/** The answer to `initialize`. base-protocol section 3. */
export type InitializeResult = {
  readonly protocol: "magi-code.local-agent"
  readonly version: 1
  readonly instance_id: string
  readonly server: { readonly name: string; readonly version: string }
  readonly workspace: string
  readonly capabilities: ReadonlyArray<string>
  readonly limits: AnnouncedLimits
  readonly selection: Selection
  readonly extensions: Extensions
  /** Only when negotiated. */
  readonly client_tools?: ClientToolsAnnouncement
}

/** The result, exactly. `capabilities` are those that are implemented. */
export const initializeResult = (options: {
  readonly instanceId: string
  readonly workspace: string
  readonly server: { readonly name: string; readonly version: string }
  readonly capabilities: ReadonlyArray<string>
  readonly admission: Admission
  readonly selection: Selection
}): InitializeResult => {
  const { admission, selection, server } = options
  const tools = admission.clientTools?.map((tool) => tool.name)
  const announcement = tools && { tools, limits: ClientToolLimits }
  return {
    protocol: "magi-code.local-agent",
    version: 1,
    instance_id: options.instanceId,
    server: { name: server.name, version: server.version },
    workspace: options.workspace,
    capabilities: announced(options.capabilities, admission.capabilities),
    limits: Limits,
    selection: { provider: selection.provider, model: selection.model, revision: selection.revision },
    extensions: {
      ...(admission.cards
        ? { "tool.cards": { schema_version: 1, event: "tool.card", history_field: "tool_card" } as const }
        : {}),
      ...(announcement
        ? { "client.tools": { schema_version: 1, registration: "startup_only", ...announcement } as const }
        : {})
    },
    ...(announcement ? { client_tools: announcement } : {})
  }
}
