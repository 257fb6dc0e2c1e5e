/** `client.tool.result`: the reply to a call. client-tools, Execute and reply; base-protocol section 6, checks on a reply. */
import { Buffer } from "node:buffer"
import * as Result from "effect/Result"
import type { CallIdentity } from "./CallIdentity.ts"
import * as CompactJson from "./CompactJson.ts"
import type { Json, JsonObject } from "./Json.ts"
import { anyJson, decodeClosed, nullable, oneOf, type ParamsFault, type Shape, string } from "./Params.ts"

/** The params, exactly: the call's identity, a status, a text and maybe a structured value. */
export type ToolResultParams = CallIdentity & {
  readonly status: "success" | "error"
  /** May be empty. */
  readonly text: string
  /** Any JSON; an explicit `null` is a value, absence is none. */
  readonly structured?: Json
}

/** A reply taken apart: whose it is, and what it says. */
export interface ToolReply {
  readonly identity: CallIdentity
  readonly status: "success" | "error"
  readonly value: { readonly text: string; readonly structured?: Json }
}

// The identity members are strings of any content here: whether they are a pending call's is the next check, `stale`.
export const toolResultShape: Shape<ToolResultParams> = {
  required: {
    instance_id: string,
    session_id: string,
    run_id: string,
    call_id: string,
    task_id: nullable(string),
    subagent_id: nullable(string),
    status: oneOf("success", "error"),
    text: string
  },
  optional: { structured: anyJson }
}

/** The first check on a reply: closed shape and types, nothing else. */
export const decodeToolResult = (params: JsonObject): Result.Result<ToolReply, ParamsFault> =>
  Result.map(decodeClosed(params, toolResultShape), (reply) => ({
    identity: {
      instance_id: reply.instance_id,
      session_id: reply.session_id,
      run_id: reply.run_id,
      call_id: reply.call_id,
      task_id: reply.task_id,
      subagent_id: reply.subagent_id
    },
    status: reply.status,
    value: reply.structured === undefined ? { text: reply.text } : { text: reply.text, structured: reply.structured }
  }))

/** The params of a reply, as a client sends them. */
export const resultParams = (reply: ToolReply): ToolResultParams => ({
  instance_id: reply.identity.instance_id,
  session_id: reply.identity.session_id,
  run_id: reply.identity.run_id,
  call_id: reply.identity.call_id,
  task_id: reply.identity.task_id,
  subagent_id: reply.identity.subagent_id,
  status: reply.status,
  text: reply.value.text,
  ...(reply.value.structured === undefined ? {} : { structured: reply.value.structured })
})

/** What `result_bytes` bounds: UTF-8 bytes of the text plus compact bytes of the structured value, if there is one. */
export const sizeOf = (value: { readonly text: string; readonly structured?: Json }): number =>
  Buffer.byteLength(value.text) + (value.structured === undefined ? 0 : CompactJson.byteLength(value.structured))
