/** product section 4: closing ends the child within two seconds, and all it started; a loss tells how it ended. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { Agent } from "../../src/client/Agent.ts"
import { isGone } from "./support/processes.ts"

const script = fileURLToPath(new URL("./support/processAgent.mjs", import.meta.url))

interface Note {
  readonly t: number
  readonly kind: string
  readonly pid?: number
}

const withLog = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "magi-client-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** Opens the agent, does something with it, closes it; gives the agent's notes and how long the closing took. */
const closed = (modes: ReadonlyArray<string>, use: (agent: typeof Agent.Service) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const directory = yield* withLog
    const log = join(directory, "log")
    let closing = 0
    yield* Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* Agent.make({ words: [process.execPath, script, log, ...modes] })
        yield* use(agent)
        closing = performance.now()
      })
    )
    const ms = performance.now() - closing
    const notes: ReadonlyArray<Note> = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    const pids = notes.flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
    return { notes, ms, left: pids.filter((pid) => !isGone(pid)) }
  }).pipe(Effect.scoped)

const at = (notes: ReadonlyArray<Note>, kind: string) => notes.find((one) => one.kind === kind)?.t ?? Number.NaN

describe("closing", { timeout: 20_000 }, () => {
  it.live("a polite agent sees EOF and no signal, and is not waited for longer than it needs", () =>
    Effect.gen(function* () {
      const { left, ms, notes } = yield* closed([], (agent) => agent.createSession)
      assert.deepStrictEqual(left, [])
      assert.isBelow(ms, 1500)
      assert.isNotNaN(at(notes, "eof"))
      assert.isNaN(at(notes, "SIGTERM"))
    })
  )

  it.live("SIGTERM comes at 1600 ms, SIGKILL at 1800, and the end at 2000", () =>
    Effect.gen(function* () {
      const { left, ms, notes } = yield* closed(
        ["ignores-eof", "ignores-term", "grandchild"],
        (agent) => agent.createSession
      )
      assert.deepStrictEqual(left, [])
      const eof = at(notes, "eof")
      assert.closeTo(at(notes, "SIGTERM") - eof, 1600, 150)
      assert.closeTo((notes.findLast((one) => one.kind === "beat")?.t ?? 0) - eof, 1800, 150)
      assert.isBelow(ms, 2400)
    })
  )

  it.live("a grandchild in a session of its own is found by its mark", () =>
    Effect.gen(function* () {
      const { left, notes } = yield* closed(["hidden-grandchild"], (agent) => agent.createSession)
      assert.lengthOf(
        notes.filter((one) => one.kind === "grandchild"),
        1
      )
      assert.deepStrictEqual(left, [])
    })
  )

  it.live("also when opening is interrupted", () =>
    Effect.gen(function* () {
      const directory = yield* withLog
      const log = join(directory, "log")
      // An agent that is no agent: it never answers initialize, and ends with its input.
      const code =
        "process.stdin.resume().on('end', () => process.exit(0)); require('fs').writeFileSync(process.argv[1], String(process.pid))"
      const opening = Agent.make({ words: [process.execPath, "-e", code, log] })
      yield* Effect.timeoutOption(Effect.scoped(opening), 700)
      assert.isTrue(isGone(Number(readFileSync(log, "utf8"))))
    })
  )
})

describe("a lost agent", { timeout: 20_000 }, () => {
  it.live("is told with its exit code and the tail of its stderr", () =>
    Effect.gen(function* () {
      let told: unknown
      const { left } = yield* closed(["exits", "chatters", "silent"], (agent) =>
        Effect.gen(function* () {
          yield* agent.createSession
          const exit = yield* Effect.exit(agent.run("go"))
          told = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
        })
      )
      assert.deepStrictEqual(left, [])
      assert.include(told, { _tag: "TransportLost", reason: "exit", exitCode: 7, signal: null })
      assert.include((told as { readonly stderrTail: string }).stderrTail, "chatter of the agent")
    })
  )

  it.live("a command that is not there is named", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.scoped(Agent.make({ words: ["no-such-agent-command"] })))
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Exit.findErrorOption(exit)) : undefined
      assert.include(error?.message ?? "", "no-such-agent-command")
    })
  )
})
