/**
 * Durable turns and appends: the store against writes of the same bytes, made durable, on the same disk in the same run.
 *
 *     node bench/store.ts [FOLDER] [--rounds N] [--millis N]
 *
 * Loads: N appenders that each wait for their own append before they make the next, and turns of a run with two calls,
 * one after the other, each step of it waited for. Three ways, in alternating rounds, so that a slower moment of the disk
 * meets all of them:
 *
 * - `store`: the session store, as the agent uses it;
 * - `log`: what group commit could reach behind a thread that must not block: the same texts, encoded and waited for by
 *   the same fibers, sent to a worker that writes all that wait to a plain file and syncs once for them. It checks
 *   nothing, keeps no order of calls and could not be read again: what a store must do besides is not in it;
 * - `plain`: the writes of a group and one `fdatasync` in a loop, without a thread or anybody who waits: the disk itself.
 *
 * A round is as long as `--millis` says. After each one of the store there is a pause, in which it folds its log into the
 * file as it does in the pauses of a run: neither side's round has that in it. Where a round fills the log before there is
 * a pause, the store folds within the round. The ratio is store to
 * log, the median of the rounds'. FOLDER (default: the system's folder for temporary files) chooses the disk. The last
 * line is the same as JSON.
 */
import { randomUUID } from "node:crypto"
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { encodeRecord } from "../src/store/RecordCodec.ts"
import type { SessionRecord } from "../src/store/SessionRecord.ts"
import { SessionStore } from "../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../src/store/SqliteSessionStore.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "9" }, millis: { type: "string", default: "400" } }
})
const folder = mkdtempSync(join(positionals[0] ?? tmpdir(), "magi-bench-"))
const ROUNDS = Number(values.rounds)
const MILLIS = Number(values.millis)

/** Until the store has begun to fold (100 ms) and has done it. */
const PAUSE = "300 millis"

const APPENDERS = [1, 4, 16, 64]

const base = () => ({ entryId: randomUUID(), createdAt: new Date().toISOString(), runId: "run" })
const text = "a line of what a tool said, neither long nor short; ".repeat(16)

const userRecord = (): SessionRecord => ({ kind: "user", ...base(), text })

/** What a run with two calls appends: each step is waited for, and what is in one step is appended side by side. */
const turnSteps = (): ReadonlyArray<ReadonlyArray<SessionRecord>> => {
  const calls = [randomUUID(), randomUUID()].map((callKey) => ({ callKey, name: "client__lookup_record" }))
  const places = { taskId: null, parentKey: null }
  const made = calls.map((call) => ({ ...call, providerCallId: "call", arguments: { q: "text" }, invalid: null }))
  const outcome = { success: true, text, error: null }
  return [
    [userRecord()],
    [{ kind: "assistant", ...base(), text: "", calls: made }],
    calls.map((call) => ({ kind: "call_started", ...base(), ...call, ...places })),
    calls.map((call) => ({
      kind: "call_outcome",
      ...base(),
      ...call,
      ...places,
      status: "success",
      outcome,
      card: null
    })),
    [{ kind: "assistant", ...base(), text, calls: [] }],
    [{ kind: "run_finished", ...base(), status: "completed", usage: { input_tokens: 1000, output_tokens: 100 } }]
  ]
}

/** Appends one record and ends when it is durable. */
type Append = (record: SessionRecord) => Effect.Effect<unknown>

interface Load {
  readonly name: string
  /** How many of it are under way at once. */
  readonly concurrency: number
  readonly steps: () => ReadonlyArray<ReadonlyArray<SessionRecord>>
}

const loads: ReadonlyArray<Load> = [
  ...APPENDERS.map((concurrency) => ({
    name: concurrency === 1 ? "1 appender" : `${concurrency} appenders`,
    concurrency,
    steps: () => [[userRecord()]]
  })),
  { name: "turns", concurrency: 1, steps: turnSteps }
]

interface Measured {
  readonly perSecond: number
  /** Milliseconds of each append, or turn. */
  readonly latencies: ReadonlyArray<number>
}

const sideBySide = { concurrency: "unbounded", discard: true } as const

const drive = (load: Load, append: Append, millis: number): Effect.Effect<Measured> =>
  Effect.gen(function* () {
    const latencies: Array<number> = []
    const begun = performance.now()
    const one = Effect.gen(function* () {
      let start = performance.now()
      while (start < begun + millis) {
        for (const step of load.steps()) {
          const [only, ...more] = step
          if (only !== undefined && more.length === 0) yield* append(only)
          else yield* Effect.forEach(step, append, sideBySide)
        }
        const end = performance.now()
        latencies.push(end - start)
        start = end
      }
    })
    yield* Effect.forEach(Array.from({ length: load.concurrency }), () => one, sideBySide)
    return { perSecond: (latencies.length * 1000) / (performance.now() - begun), latencies }
  })

/** The same way to talk to a thread as the store's: one message for all that is asked in one turn of the event loop. */
const startLog = (path: string): { readonly append: Append; readonly end: () => Promise<unknown> } => {
  const worker = new Worker(new URL("./storeLogWorker.ts", import.meta.url), { workerData: path })
  const waiting = new Map<number, () => void>()
  let outgoing: Array<readonly [number, string]> = []
  let ids = 0
  worker.on("message", (done: ReadonlyArray<number>) => {
    for (const id of done) {
      waiting.get(id)?.()
      waiting.delete(id)
    }
  })
  const append: Append = (record) =>
    Effect.callback<void>((resume) => {
      waiting.set(++ids, () => resume(Effect.void))
      outgoing.push([ids, encodeRecord(record)])
      if (outgoing.length > 1) return
      queueMicrotask(() => {
        worker.postMessage(outgoing)
        outgoing = []
      })
    })
  return { append, end: () => worker.terminate() }
}

const plainWrites = (load: Load, descriptor: number, millis: number): Measured => {
  const latencies: Array<number> = []
  const begun = performance.now()
  let before = begun
  while (before < begun + millis) {
    for (const step of load.steps()) {
      for (const record of step) {
        for (let n = 0; n < load.concurrency; n++) writeSync(descriptor, encodeRecord(record))
      }
      fdatasyncSync(descriptor)
    }
    const now = performance.now()
    for (let n = 0; n < load.concurrency; n++) latencies.push(now - before)
    before = now
  }
  return { perSecond: (latencies.length * 1000) / (performance.now() - begun), latencies }
}

const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

const summary = (rounds: ReadonlyArray<Measured>) => {
  const latencies = rounds.flatMap((round) => round.latencies)
  const rates = rounds.map((round) => round.perSecond)
  return {
    per_second: Math.round(quantile(rates, 0.5)),
    median_ms: Number(quantile(latencies, 0.5).toFixed(3)),
    p99_ms: Number(quantile(latencies, 0.99).toFixed(3))
  }
}

const compare = (load: Load, store: Append, log: Append, descriptor: number) =>
  Effect.gen(function* () {
    const rounds: { readonly [Way in "store" | "log" | "plain"]: Array<Measured> } = { store: [], log: [], plain: [] }
    yield* drive(load, log, MILLIS)
    yield* drive(load, store, MILLIS)
    yield* Effect.sleep(PAUSE)
    for (let round = 0; round < ROUNDS; round++) {
      rounds.plain.push(plainWrites(load, descriptor, MILLIS / 4))
      rounds.log.push(yield* drive(load, log, MILLIS))
      rounds.store.push(yield* drive(load, store, MILLIS))
      yield* Effect.sleep(PAUSE)
    }
    const ratios = rounds.store.map(({ perSecond }, at) => perSecond / (rounds.log[at]?.perSecond ?? Number.NaN))
    return {
      load: load.name,
      store: summary(rounds.store),
      log: summary(rounds.log),
      plain: summary(rounds.plain),
      ratio: Number(quantile(ratios, 0.5).toFixed(2))
    }
  })

const main = Effect.gen(function* () {
  const store = yield* SessionStore
  const session = yield* store.create({ sessionId: "bench", workspace: "/bench" })
  const append: Append = (record) => Effect.orDie(session.append([record]))
  const log = yield* Effect.acquireRelease(
    Effect.sync(() => startLog(join(folder, "log"))),
    ({ end }) => Effect.promise(end)
  )
  const descriptor = openSync(join(folder, "plain"), "a")
  yield* Effect.addFinalizer(() => Effect.sync(() => closeSync(descriptor)))
  // Code that has run a few hundred times only is slow, and more of it is the store's.
  const warm: Load = { name: "", concurrency: 4, steps: turnSteps }
  for (const way of [append, log.append]) yield* drive(warm, way, 4 * MILLIS)
  return yield* Effect.forEach(loads, (load) => compare(load, append, log.append, descriptor))
})

const rows = await Effect.runPromise(
  Effect.scoped(main).pipe(Effect.provide(SqliteSessionStore.layer({ home: join(folder, "home") })))
)
rmSync(folder, { recursive: true, force: true })

const bytes = encodeRecord(userRecord()).length
const cell = (value: number | string, width: number): string => String(value).padStart(width)

console.log(`durable appends of ${bytes} bytes, and turns of eight records: a second, median and p99 in milliseconds`)
console.log(
  "         load |    store  median     p99 |      log  median     p99 |    plain  median     p99 | store/log"
)
for (const { load, log, plain, ratio, store } of rows) {
  const of = (one: typeof store): string =>
    `${cell(one.per_second, 8)} ${cell(one.median_ms, 7)} ${cell(one.p99_ms, 7)}`
  console.log(`${cell(load, 13)} | ${of(store)} | ${of(log)} | ${of(plain)} | ${cell(ratio.toFixed(2), 9)}`)
}
console.log(JSON.stringify({ bench: "store", record_bytes: bytes, rows }))
