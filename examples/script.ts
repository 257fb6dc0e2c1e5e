/**
 * A script without Effect: `node examples/script.ts` after `npm run build`. In another project the import is from
 * "magi-code/promise". On Node 24 or newer, `await using agent = …` does what `finally` does here.
 */
import { openAgent, type PlainTool } from "../src/client/promise.ts"

const wordCount: PlainTool = {
  name: "word_count",
  description: "Count the words of a text.",
  input_schema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false
  },
  execute: ({ text }: { readonly text: string }) => ({ words: text.split(/\s+/).filter(Boolean).length })
}

const agent = await openAgent({ tools: [wordCount] })
try {
  await agent.createSession()
  const turn = await agent.turn('The word count of "to be or not to be"')
  for await (const event of turn.events) {
    if (event._tag === "Event" && event.event === "activity.started") console.log(`called: ${event.data.name}`)
    if (event._tag === "Reply") console.log(`replied: ${event.status}`)
  }
  const outcome = await turn.outcome
  console.log(`${outcome.status}: ${outcome.text}`)
} finally {
  await agent.close()
}
