// Tools without Effect, for `magi-code run --tools examples/plain-tools.mjs`: an array of objects with an `execute` function.
import { setTimeout as sleep } from "node:timers/promises"

export default [
  {
    name: "word_count",
    description: "Count the words of a text.",
    input_schema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false
    },
    // Any JSON value but a string becomes the structured value.
    execute: ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length })
  },
  {
    name: "wait",
    description: "Wait for some milliseconds.",
    input_schema: {
      type: "object",
      properties: { ms: { type: "integer", minimum: 0, maximum: 60_000 } },
      required: ["ms"],
      additionalProperties: false
    },
    timeout_ms: 60_000,
    // The signal aborts on cancellation, at the deadline, and when the agent is lost.
    async execute({ ms }, { remainingMs, signal }) {
      if (ms > remainingMs()) return { status: "error", text: "That is longer than this call may take." }
      await sleep(ms, undefined, { signal })
      return `Waited ${ms} ms.`
    }
  }
]
