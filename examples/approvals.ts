/**
 * An Effect application that answers questions of approval: `node examples/approvals.ts` after `npm run build`. In another
 * project the import is from "magi-code".
 *
 * Whoever starts the agent owns its questions. Here a person answers them on a terminal; without one a rule does: the program's
 * own tools are allowed, what the agent wants to run by itself is not.
 */

import { createInterface } from "node:readline/promises"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { Agent, type Approver, ToolkitTools } from "../src/index.ts"
import records from "./tools.ts"

/** Asks on the terminal. The agent closes a question by interrupting this: the signal takes the prompt away. */
const askPerson = (question: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => createInterface({ input: process.stdin, output: process.stderr })),
    (terminal) => Effect.promise((signal) => terminal.question(`${question} [y/N] `, { signal })),
    (terminal) => Effect.sync(() => terminal.close())
  ).pipe(Effect.map((answer) => /^y(es)?$/i.test(answer.trim())))

const approver: Approver = (question) => {
  // A summary is somebody else's text: what could steer a terminal is shown escaped.
  const asked = `${question.source}: ${JSON.stringify(question.summary)}`
  const answer = process.stdin.isTTY ? askPerson(`${asked}?`) : Effect.succeed(question.source === "tool")
  return Effect.tap(answer, (allowed) => Console.log(`${asked}: ${allowed ? "allowed" : "denied"}`))
}

/** An agent whose tools are the toolkit of `tools.ts`; its `add_note` has `needsApproval`. */
const AgentLive = Layer.unwrap(
  Effect.gen(function* () {
    const tools = yield* ToolkitTools.make(records.toolkit)
    return Agent.layer({ tools, approver })
  })
).pipe(Layer.provide(records.layer))

const program = Effect.gen(function* () {
  const agent = yield* Agent
  yield* agent.createSession
  for (const prompt of [
    'To the record "R-17", append the note "The lamp is ordered."',
    'Run the shell command "date"'
  ]) {
    const outcome = yield* agent.run(prompt)
    yield* Console.log(`${outcome.status}: ${outcome.text}`)
  }
}).pipe(Effect.provide(AgentLive))

// Ctrl-C interrupts the program, and so ends the agent as well.
NodeRuntime.runMain(program)
