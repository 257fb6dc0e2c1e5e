/**
 * An Effect application that drives an agent: `node examples/library.ts` after `npm run build`. In another project the import
 * is from "magi-code". The agent is a Layer; its process is gone within two seconds of the end of the program.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Stream } from "effect"
import { Agent, type AgentOptions, ToolkitTools } from "../src/index.ts"
import records from "./tools.ts"

const options = Effect.gen(function* () {
  const tools = yield* ToolkitTools.make(records.toolkit)
  return {
    tools,
    // Whoever starts the agent owns its questions: here, nothing that asks is allowed.
    approver: ({ summary }) => Effect.as(Console.error(`not allowed: ${summary}`), false)
  } satisfies AgentOptions
})

/** An agent whose tools are the toolkit of `tools.ts`. */
const AgentLive = Layer.unwrap(Effect.map(options, Agent.layer)).pipe(Layer.provide(records.layer))

const program = Effect.gen(function* () {
  const agent = yield* Agent
  yield* agent.createSession
  // The turn belongs to a scope: leaving it before the run has ended sends `turn.cancel`.
  const turn = yield* agent.turn('Look up the record "R-17" by its identifier')
  yield* turn.events.pipe(
    Stream.runForEach((event) =>
      event._tag === "Event" && event.event === "activity.started" ? Console.log(`(${event.data.name})`) : Effect.void
    )
  )
  const outcome = yield* turn.outcome
  yield* Console.log(outcome.status === "completed" ? outcome.text : `the run was ${outcome.status}`)
}).pipe(
  Effect.scoped,
  Effect.catchTag("TransportLost", (error) => Console.error(`${error.message}\n${error.stderrTail}`)),
  Effect.provide(AgentLive)
)

// Ctrl-C interrupts the program, and so ends the agent as well.
NodeRuntime.runMain(program)
