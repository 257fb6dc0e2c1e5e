/**
 * `magi-code/testing`: an application's tools tested without a process, under `TestClock`; and an agent tested without a
 * client. product section 4.
 *
 * ```ts
 * const tools = yield* PlainTools.make([wordCount])
 * const reply = yield* callTool(tools, "word_count", { text: "two words" })
 * assert.deepStrictEqual(reply.structured, { words: 2 })
 * ```
 *
 * @module magi-code/testing
 */
export { type MemoryEnd, makePair as makeMemoryPair } from "../transport/MemoryTransport.ts"
export { callTool } from "./callTool.ts"
export {
  make as makeScriptedAgent,
  type ScriptedAgent,
  type ScriptedAgentOptions,
  type ScriptedCall,
  type ScriptedReply,
  type ScriptedRun,
  ScriptFault
} from "./ScriptedAgent.ts"
export { make as makeScriptedClient, type ScriptedClient } from "./ScriptedClient.ts"
