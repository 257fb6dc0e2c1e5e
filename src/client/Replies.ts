/**
 * Replies to calls: measured before they are sent, so that a result that does not fit becomes one local `error` reply.
 * Synchronous. product section 5, Replies; client-tools, Execute and reply.
 */
import { type CallIdentity, same } from "../protocol/CallIdentity.ts"
import * as CompactJson from "../protocol/CompactJson.ts"
import { ClientToolLimits } from "../protocol/Limits.ts"
import { resultParams, sizeOf } from "../protocol/ToolResult.ts"
import type { ToolReplyValue } from "./ClientTool.ts"
import type { NotSent, Requests } from "./Requests.ts"

const METHOD = "client.tool.result"

/** The replies of one connection. */
export interface Replies {
  /** Sends the one reply to a call. What it says may be replaced by an `error` reply; it never throws and never waits. */
  readonly send: (identity: CallIdentity, reply: ToolReplyValue) => void
  /** The agent has ended this call, or all of them: a reply that it then refuses is not corrected. */
  readonly over: (identity?: CallIdentity) => void
}

/** The replies of one connection. */
export interface RepliesOptions {
  readonly requests: Requests
  /** `result_bytes` as announced, where that is lower than ours. */
  readonly resultBytes: () => number
  /** Told of each reply in the step that sends it. */
  readonly onSent: (callId: string, status: "success" | "error") => void
  /** Told of a reply that could not be sent at all. */
  readonly onNotSent: (callId: string, why: NotSent) => void
}

const REFUSED = "the agent did not accept the tool's result (invalid_params)"

const error = (text: string): ToolReplyValue => ({ status: "error", text })

/** Replies over these requests. */
export const make = (options: RepliesOptions): Replies => {
  const { requests } = options
  /** Calls whose reply is not answered yet, and that the agent has not ended; at most one a request id. */
  const sent = new Map<string, CallIdentity>()

  const mostBytes = () => Math.min(options.resultBytes(), ClientToolLimits.result_bytes)
  /** Our own words, which an agent that takes very little gets the beginning of. */
  const inBounds = (text: string) => error(CompactJson.truncateText(text, mostBytes()))

  /** What is sent instead of a reply that cannot be; `undefined`: it can be. */
  const misfit = (identity: CallIdentity, reply: ToolReplyValue): string | undefined => {
    const most = mostBytes()
    const { structured, text } = reply
    if (!CompactJson.isEncodable(text) || (structured !== undefined && !CompactJson.isEncodable(structured))) {
      return "the tool's result holds a lone surrogate and cannot be sent"
    }
    const bytes = sizeOf(structured === undefined ? { text } : { text, structured })
    if (bytes > most) return `the tool's result has ${bytes} bytes; at most ${most} can be sent`
    return requests.tooLarge(METHOD, params(identity, reply))?.message
  }

  const post = (identity: CallIdentity, reply: ToolReplyValue, isSecond: boolean) => {
    const { call_id } = identity
    sent.set(call_id, identity)
    const notSent = requests.send(METHOD, params(identity, reply), "reply", (answer) => {
      const pending = sent.delete(call_id)
      // The call is still pending at the agent: one correction, under a fresh id. `stale_client_tool_call` says that the
      // call is over: nothing follows.
      if (answer._tag === "Failure" && answer.error.code === "invalid_params" && pending && !isSecond) {
        post(identity, inBounds(REFUSED), true)
      }
    })
    if (notSent === undefined) return options.onSent(call_id, reply.status)
    sent.delete(call_id)
    options.onNotSent(call_id, notSent)
  }

  return {
    send: (identity, reply) => {
      const why = misfit(identity, reply)
      post(identity, why === undefined ? reply : inBounds(why), false)
    },
    over: (identity) => {
      if (identity === undefined) return sent.clear()
      const known = sent.get(identity.call_id)
      if (known !== undefined && same(known, identity)) sent.delete(identity.call_id)
    }
  }
}

const params = (identity: CallIdentity, reply: ToolReplyValue) =>
  resultParams({
    identity,
    status: reply.status,
    value: reply.structured === undefined ? { text: reply.text } : { text: reply.text, structured: reply.structured }
  })
