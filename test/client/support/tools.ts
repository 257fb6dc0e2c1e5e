/** Client tools that tests can watch: what they do is an effect of the test's. */
import { Effect } from "effect"
import type { ClientTool, ClientTools, ToolFailed, ToolReplyValue } from "../../../src/client/ClientTool.ts"
import type { ToolCall } from "../../../src/client/ToolCall.ts"
import type { JsonObject } from "../../../src/protocol/Json.ts"

export const toolOf = (
  name: string,
  run: (args: JsonObject) => Effect.Effect<ToolReplyValue, ToolFailed, ToolCall>
): ClientTool => ({
  descriptor: {
    name,
    description: "A tool of a test.",
    input_schema: { type: "object" },
    timeout_ms: 30_000
  },
  run
})

export const toolsOf = (...tools: ReadonlyArray<ClientTool>): ClientTools => ({ tools })

export const say = (text: string): ToolReplyValue => ({ status: "success", text })

export const echo = toolOf("client__echo", (args) => Effect.succeed(say(String(args["text"] ?? ""))))
