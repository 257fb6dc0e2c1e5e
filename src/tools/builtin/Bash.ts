/** `bash`: a shell command in the workspace. product section 2; base-protocol section 3 (its processes end with it). */
import { Effect, Fiber, Option, type Scope, Stream } from "effect"
import type { Child, ChildrenShape, SpawnFailed } from "../../platform/Children.ts"
import { truncateText } from "../../protocol/CompactJson.ts"
import { CARD_LINE_BYTES, CARD_LINES } from "../../protocol/Limits.ts"
import { type AgentTool, ToolFailure, type ToolOutput } from "../Tool.ts"
import { defineArguments, integer, text } from "./Arguments.ts"
import { HeadAndTail } from "./HeadAndTail.ts"
import { failed, type Workbench } from "./Workbench.ts"

const DEFAULT_TIMEOUT_MS = 120_000
const MAX_TIMEOUT_MS = 600_000
/** How long the rest of the output is waited for once every process of the command is gone. */
const REST_MS = 300

interface BashArguments {
  readonly command: string
  readonly timeout_ms?: number
}

const args = defineArguments<BashArguments>({
  required: { command: text("The command, as for bash -c.", { filled: true }) },
  optional: {
    timeout_ms: integer(`Time limit in milliseconds (default ${DEFAULT_TIMEOUT_MS}).`, 1, MAX_TIMEOUT_MS)
  }
})

/** Both outputs on one pipe, in the order they were written; the command is no part of the text that is parsed here. */
const WRAPPER = 'exec "$0" -c "$1" 2>&1'

const spawn = (children: ChildrenShape, shell: string, command: string, cwd: string) =>
  children.spawn({ command: shell, args: ["-c", WRAPPER, shell, command], cwd })

const start = (bench: Workbench, command: string): Effect.Effect<Child, ToolFailure, Scope.Scope> => {
  const { children, settings } = bench
  const notStarted = (error: SpawnFailed) => failed(`the shell could not be started: ${error.reason}`)
  return spawn(children, "bash", command, settings.workspace).pipe(
    Effect.catchIf(
      (error) => error.reason === "ENOENT",
      () => spawn(children, "sh", command, settings.workspace)
    ),
    Effect.mapError(notStarted)
  )
}

/** The command on a card: its first lines. */
const cardLines = (command: string) =>
  command
    .split("\n")
    .slice(0, CARD_LINES)
    .map((line) => truncateText(line, CARD_LINE_BYTES))

const seconds = (millis: number) => `${millis / 1000} s`

const execute = (
  bench: Workbench,
  command: string,
  timeoutMs: number
): Effect.Effect<ToolOutput, ToolFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* start(bench, command)
    const output = new HeadAndTail()
    const reading = yield* Effect.forkScoped(
      Stream.runForEach(child.stdout, (chunk) => Effect.sync(() => output.push(chunk)))
    )
    const exit = yield* Effect.timeoutOption(child.exit, timeoutMs)
    // What the command left running ends with the call, and with that the pipe.
    yield* child.stop
    yield* Effect.timeoutOption(Fiber.await(reading), REST_MS)
    const result: ToolOutput = { text: output.text() }
    if (Option.isNone(exit)) {
      const message = `the command did not end within ${seconds(timeoutMs)} and was stopped`
      return yield* new ToolFailure({ code: "tool_timeout", message, output: result })
    }
    const { code, signal } = exit.value
    if (code === 0) return result
    const message = code === null ? `the command was ended by ${signal}` : `the command ended with exit code ${code}`
    return yield* new ToolFailure({ code: "tool_failed", message, output: result })
  })

export const bash = (bench: Workbench): AgentTool => ({
  name: "bash",
  description:
    "Runs a shell command in the workspace. Standard input is closed. Gives standard output and standard error together, " +
    "at most 30 KiB of beginning and end. Every process that the command starts ends with the call. The user may be asked.",
  inputSchema: args.inputSchema,
  origin: "builtin",
  role: "bash",
  fingerprint: null,
  compact: true,
  prepare: (given, context) =>
    Effect.gen(function* () {
      const { command, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = yield* args.decode(given)
      const { approvals, workspace } = bench.settings
      if (approvals.bash === "deny" || context.mode === "inspect") {
        const message = context.mode === "inspect" ? "an inspection runs no commands" : "the settings deny bash"
        return yield* new ToolFailure({ code: "approval_denied", message })
      }
      const summary = `bash in ${workspace}, at most ${seconds(timeoutMs)}:\n${command}`
      return {
        approval: approvals.bash === "allow" ? null : { kind: "bash", summary },
        lines: cardLines(command),
        execute: execute(bench, command, timeoutMs)
      }
    })
})
