/** Short forms that the case files share. Everything a case file needs is exported from here. */
import { Effect } from "effect"
import { statNow } from "../platform/ProcFs.ts"
import type { EventData, HistoryEntry } from "../protocol/index.ts"
import type { Backend } from "./Backend.ts"
import { type CaseContext, tool } from "./CaseContext.ts"
import { type CaseFailed, fail } from "./CaseEnd.ts"
import type { EventFrame } from "./Frame.ts"
import { type Json, type JsonObject, shown } from "./Json.ts"
import type { ModelResult } from "./ModelResult.ts"
import type { Waiting } from "./Wire.ts"

export { type Backend, script } from "./Backend.ts"
export { type Case, c, cite, type Page, type Step } from "./Case.ts"
export { type CaseContext, type ReadyBackend, tool } from "./CaseContext.ts"
export { fail } from "./CaseEnd.ts"
export { CLIENT_TOOL_LIMITS, LIMITS, METHODS } from "./Expected.ts"
export type { Answer, EventFrame, Frame } from "./Frame.ts"
export { at, compactBytes, type Json, type JsonObject, nested, same, shown, textBytes } from "./Json.ts"
export type { ModelResult } from "./ModelResult.ts"
export { messagesOf, type Provider, type ProviderStep } from "./Provider.ts"

type Failing<A = void> = Effect.Effect<A, CaseFailed>
type Call = EventFrame<"client.tool.call">

/** Waits so many milliseconds. */
export const sleep = (millis: number): Effect.Effect<void> => Effect.sleep(millis)

/** A call as a step of the offline model holds it. */
export const call = (name: string, args: Json = {}): JsonObject => ({ name, arguments: args })

/** A call of Code Mode with this source. */
export const code = (source: string): JsonObject => call("code_mode", { code: source })

/** A call of `subagents`; an intent that is steps becomes a script of the offline model. */
export const agents = (
  ...tasks: ReadonlyArray<readonly [intent: Json, mode?: "standard" | "inspect", more?: JsonObject]>
): JsonObject =>
  call("subagents", {
    tasks: tasks.map(([intent, mode = "standard", more = {}]) => ({
      intent: typeof intent === "string" ? intent : `script:${JSON.stringify(intent)}`,
      mode,
      ...more
    }))
  })

/** A tool whose schema is `schema`, with `"type":"object"` added. */
export const withSchema = (schema: JsonObject, name = "a"): JsonObject =>
  tool(name, { input_schema: { type: "object", ...schema } })

const registering = (registry: Json | string): string =>
  `{"required_capabilities":["client.tools"],"client_tools":${
    typeof registry === "string" ? registry : JSON.stringify(registry)
  }}`

/**
 * Each registry (a value, or JSON text) must be refused with `invalid_params`, in one process that then admits a good
 * one. The keys say what is wrong with each.
 */
export const refusesAll = (t: CaseContext, registries: { readonly [what: string]: Json }): Failing<Backend> =>
  Effect.gen(function* () {
    const b = yield* t.spawn()
    for (const [what, registry] of Object.entries(registries)) {
      const { error } = yield* b.requestText("initialize", registering(registry))
      yield* t.equal(error?.code, "invalid_params", what)
    }
    const good = yield* b.initialize([tool("good")])
    yield* t.expect(good.result, `a corrected registry should be admitted, got ${shown(good.error)}`)
    return b
  })

/** The registry (a value, or JSON text) must be admitted, by a process of its own. */
export const admits = (t: CaseContext, registry: Json): Failing<Backend> =>
  Effect.gen(function* () {
    const b = yield* t.spawn()
    const { error } = yield* b.requestText("initialize", registering(registry))
    yield* t.equal(error, undefined, `${shown(registry, 80)} should be admitted: error`)
    return b
  })

/** Starts a turn that calls the tools named and then shows their results; gives its call events, of which `count` come. */
export const callAll = (
  b: Backend,
  calls: ReadonlyArray<readonly [name: string, args?: Json]>,
  count = calls.length
): Failing<ReadonlyArray<Call>> =>
  Effect.gen(function* () {
    const before = b.events("client.tool.call").length
    yield* b.turn([{ calls: calls.map(([name, args]) => call(name, args)) }, { text: "{{results}}" }])
    return count === 0 ? [] : (yield* b.calls(before + count)).slice(before)
  })

/** Starts a turn that calls `client__a` once and then shows its result; gives the pending call. */
export const oneCall = (b: Backend, args: Json = {}): Failing<Call> =>
  Effect.flatMap(callAll(b, [["client__a", args]]), ([event]) =>
    event === undefined ? fail("no call") : Effect.succeed(event)
  )

/** Starts a turn that calls `client__a` twice and then shows the results; gives both pending calls. */
export const twoCalls = (b: Backend): Failing<readonly [Call, Call]> =>
  Effect.flatMap(callAll(b, [["client__a"], ["client__a"]]), ([first, second]) =>
    first === undefined || second === undefined ? fail("not two calls") : Effect.succeed([first, second] as const)
  )

/** The run must complete; gives what the model saw. */
export const completed = (b: Backend, waiting?: Waiting): Failing<ReadonlyArray<ModelResult>> =>
  Effect.gen(function* () {
    const { data } = yield* b.finished(b.run, waiting)
    if (data.status !== "completed") return yield* fail(`the run should complete, got ${shown(data)}`)
    return yield* b.results()
  })

/** The run must complete with results of which the first is given. */
export const completedOne = (b: Backend, waiting?: Waiting): Failing<ModelResult> =>
  Effect.flatMap(completed(b, waiting), ([first]) =>
    first === undefined ? fail("the model saw no result") : Effect.succeed(first)
  )

/** A turn of these calls that needs no replies; gives what the model saw. */
export const runSteps = (
  b: Backend,
  calls: ReadonlyArray<JsonObject>,
  waiting?: Waiting
): Failing<ReadonlyArray<ModelResult>> =>
  Effect.andThen(b.turn([{ calls }, { text: "{{results}}" }]), completed(b, waiting))

/** The run must end, and before that publish no client call from frame `from` on. */
export const endsWithoutCall = (b: Backend, from = 0): Failing =>
  Effect.gen(function* () {
    const ends = ["client.tool.call", "run.finished"]
    const next = yield* b.until(({ event = "" }) => ends.includes(event), "the end of the run", { from })
    if (next.event !== "run.finished") return yield* fail(`no client call should be published, got ${next.text}`)
  })

/** The model must have seen a failure with this code. */
export const failedWith = (result: ModelResult | undefined, wanted: string): Failing =>
  result !== undefined && !result.success && JSON.stringify(result).includes(wanted)
    ? Effect.void
    : fail(`wanted a failure with ${wanted}, the model saw ${shown(result, 300)}`)

/** Cancels the run that `turn` started last. */
export const cancelTurn = (b: Backend): Failing<unknown> =>
  b.ok("turn.cancel", { session_id: b.session, run_id: b.run })

/** Every entry of the attached session's history. */
export const history = (b: Backend): Failing<ReadonlyArray<HistoryEntry>> =>
  Effect.gen(function* () {
    const { history_revision: revision } = yield* b.ok("status")
    const entries: Array<HistoryEntry> = []
    for (let more: JsonObject = {}; ; ) {
      const page = yield* b.ok("history.page", { session_id: b.session, revision, ...more })
      entries.push(...page.entries)
      if (page.cursor === null) return entries
      more = { cursor: page.cursor }
    }
  })

type Asked = EventData["approval.request"]

/** Answers the approval requests of the run as they come, until it ends; gives their data. */
export const answering = (b: Backend, allow: (asked: Asked) => boolean = () => false): Failing<ReadonlyArray<Asked>> =>
  Effect.gen(function* () {
    const seen: Array<Asked> = []
    for (let from = 0; ; ) {
      const next = yield* b.until(
        ({ data, event }) => (event === "approval.request" || event === "run.finished") && data?.run_id === b.run,
        "an approval or the end of the run",
        { from }
      )
      from = next.index + 1
      const asked = b.events("approval.request").find((one) => one.index === next.index)
      if (asked === undefined) return seen
      seen.push(asked.data)
      const { approval_id, run_id, session_id } = asked.data
      yield* b.ok("approval.answer", { session_id, run_id, approval_id, allow: allow(asked.data) })
    }
  })

/** The data of the `activity.finished` of a client call. */
export const activityOf = (b: Backend, event: Call): EventData["activity.finished"] | undefined =>
  b.events("activity.finished").find(({ data }) => data.call_id === event.data.call_id)?.data

/** Waits until a child of the case has written its process id into a file of the workspace. */
export const pidIn = (t: CaseContext, name: string, millis = 4000): Failing<number> =>
  Effect.gen(function* () {
    while (!/^\d+\s*$/.test(t.read(name))) yield* Effect.sleep(25)
    return Number(t.read(name))
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => fail(`${name} was not written within ${millis} ms`) }))

/** Whether a process runs (one that is dead and only not collected does not). */
export const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const state = statNow(pid)?.state
  return state !== "Z" && state !== "X"
}

/** These processes must be gone within so many milliseconds. */
export const gone = (pids: ReadonlyArray<number>, millis: number): Failing =>
  Effect.gen(function* () {
    while (pids.some(alive)) yield* Effect.sleep(20)
  }).pipe(
    Effect.timeoutOrElse({
      duration: millis,
      orElse: () => fail(`processes left after ${millis} ms: ${pids.filter(alive).join(" ")}`)
    })
  )
