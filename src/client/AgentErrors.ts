/** What can go wrong with an agent, beside the loss of its transport. Every one of them says what to do in one line. */
import * as Data from "effect/Data"
import type { TransportLost } from "./TransportLost.ts"

/**
 * The agent's command could not be started. `reason` is the system's code, such as `ENOENT`, or `not_built`: no command was
 * named, and this package has no built agent.
 */
export class AgentNotStarted extends Data.TaggedError("AgentNotStarted")<{
  readonly command: string
  readonly reason: string
}> {
  override get message(): string {
    if (this.reason === "not_built")
      return "this package was not built: run npm run build, or name the agent's command in words"
    return this.reason === "ENOENT"
      ? `the agent command ${JSON.stringify(this.command)} was not found`
      : `the agent command ${JSON.stringify(this.command)} could not be started (${this.reason})`
  }
}

/**
 * `initialize` did not lead to a usable agent: it answered with an error (`code` is the protocol's), not within 30 s
 * (`timeout`), or with something that is not this protocol or not what was asked for (`unsuitable`).
 */
export class InitializeFailed extends Data.TaggedError("InitializeFailed")<{
  readonly code: string
  readonly reason: string
  readonly path?: string
}> {
  override get message(): string {
    const at = this.path === undefined || this.path === "" ? "" : ` at ${this.path}`
    return `the agent could not be initialized: ${this.reason} (${this.code}${at})`
  }
}

/** The agent answered a request with an error envelope. `reason` is the agent's text for a person. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{
  readonly method: string
  readonly code: string
  readonly reason: string
  readonly path?: string
}> {
  override get message(): string {
    const at = this.path === undefined || this.path === "" ? "" : ` at ${this.path}`
    return `${this.method} was refused: ${this.reason} (${this.code}${at})`
  }
}

/**
 * The agent's request ids are used up but for the reserve that replies, cancellation and shutdown need (product section
 * 5, Ids). Recycle the agent, or start a new one, to go on.
 */
export class RequestIdsExhausted extends Data.TaggedError("RequestIdsExhausted")<{
  readonly left: number
  readonly limit: number
}> {
  override get message(): string {
    return `only ${this.left} of the agent's ${this.limit} request ids are left (RequestIdsExhausted): recycle the agent or start a new one`
  }
}

/** A request was not sent because it breaks a bound, ours or a lower one that the agent announced. */
export class LimitExceeded extends Data.TaggedError("LimitExceeded")<{
  /** The name of the limit, as `initialize` announces it. */
  readonly limit: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.reason} (${this.limit})`
  }
}

/** A tool, or the set of them, cannot be registered. */
export class ToolRefused extends Data.TaggedError("ToolRefused")<{
  /** The tool's name as given; absent where the set as a whole is at fault. */
  readonly tool?: string
  readonly reason: string
  /** A JSON Pointer into the tool, such as `/input_schema/properties/x/$ref`. */
  readonly path?: string
}> {
  override get message(): string {
    const who = this.tool === undefined ? "the tools" : `tool ${JSON.stringify(this.tool)}`
    const at = this.path === undefined || this.path === "" ? "" : ` at ${this.path}`
    return `${who}: ${this.reason}${at}`
  }
}

/** The reader of a turn's events fell too far behind; the run itself goes on, and its outcome can still be awaited. */
export class EventsOverflow extends Data.TaggedError("EventsOverflow")<{ readonly bytes: number }> {
  override get message(): string {
    return `more than ${this.bytes} bytes of events were not read`
  }
}

/**
 * The agent's child was not replaced. `reason`:
 * - `run_active`: a run is active. Recycle when it has ended.
 * - `no_link`: the agent was given one link, and there is no other.
 * - `not_opened`: the new child could not be started or initialized (`cause`).
 * - `session`: the session could not be let go by the child before, or opened in the new one (`cause`).
 * - `closed`: the agent was closed.
 */
export class RecycleFailed extends Data.TaggedError("RecycleFailed")<{
  readonly reason: "run_active" | "no_link" | "not_opened" | "session" | "closed"
  /** The child before stays in use. False: there is none (it was lost, or had to be closed first); recycle again, or give up. */
  readonly inUse: boolean
  readonly cause?: AgentNotStarted | InitializeFailed | RequestError | TransportLost
}> {
  override get message(): string {
    const why = this.cause === undefined ? "" : `: ${this.cause.message}`
    return `the agent was not recycled: ${recycleReasons[this.reason]}${why}${this.inUse ? "; the one before stays in use" : ""}`
  }
}

const recycleReasons: Readonly<Record<RecycleFailed["reason"], string>> = {
  run_active: "a run is active, recycle when it has ended",
  no_link: "it was given one link; give Agent.over an effect that makes one for each child",
  not_opened: "the new one could not be opened",
  session: "the session could not be moved to the new one",
  closed: "it was closed"
}

/** Why a request did not lead to a result. */
export type RequestError = RequestFailed | RequestIdsExhausted | LimitExceeded
