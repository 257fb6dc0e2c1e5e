/**
 * Durable appends: the store against writes of the same bytes, made durable, on the same disk in the same run.
 *
 *     node bench/store.ts [FOLDER] [--appends N]
 *
 * C appenders each wait for their own append before they make the next. Three ways, in alternating rounds, so that a
 * slower moment of the disk meets all of them:
 *
 * - `store`: the session store, as the agent uses it;
 * - `log`: what group commit could reach behind a thread that must not block: the same texts sent to a worker that writes
 *   all that wait to a plain file and syncs once for them;
 * - `plain`: C writes and one `fdatasync` in a loop, without a thread or anybody who waits: the disk itself.
 *
 * The ratio is store to log, the median of the rounds'. FOLDER (default: the system's folder for temporary files)
 * chooses the disk. The last line is the same as JSON.
 */
import { randomUUID } from "node:crypto"
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { SessionRecord } from "../src/store/SessionRecord.ts"
import { SessionStore } from "../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../src/store/SqliteSessionStore.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { appends: { type: "string", default: "2000" } }
})
const folder = mkdtempSync(join(positionals[0] ?? tmpdir(), "magi-bench-"))

const CONCURRENCY = [1, 4, 16, 64]
const ROUNDS = 9

const record = (): SessionRecord => ({
  kind: "user",
  entryId: randomUUID(),
  createdAt: new Date().toISOString(),
  runId: "run",
  text: "a line of what a tool said, neither long nor short; ".repeat(16)
})

/** Appends one record and resolves when it is durable. */
type Append = () => Promise<unknown>

interface Measured {
  readonly perSecond: number
  /** Milliseconds of each append. */
  readonly latencies: ReadonlyArray<number>
}

const appenders = async (append: Append, count: number, concurrency: number): Promise<Measured> => {
  const latencies: Array<number> = []
  const one = async (): Promise<void> => {
    for (let n = 0; n < count / concurrency; n++) {
      const start = performance.now()
      await append()
      latencies.push(performance.now() - start)
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrency }, one))
  return { perSecond: (latencies.length * 1000) / (performance.now() - start), latencies }
}

/** The same way to talk to a thread as the store's: one message for all that is asked in one turn. */
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
  const append = () =>
    new Promise<void>((resolve) => {
      waiting.set(++ids, resolve)
      outgoing.push([ids, JSON.stringify(record())])
      if (outgoing.length > 1) return
      queueMicrotask(() => {
        worker.postMessage(outgoing)
        outgoing = []
      })
    })
  return { append, end: () => worker.terminate() }
}

const plainWrites = (descriptor: number, count: number, concurrency: number): Measured => {
  const latencies: Array<number> = []
  const start = performance.now()
  while (latencies.length < count) {
    const before = performance.now()
    for (let n = 0; n < concurrency; n++) writeSync(descriptor, JSON.stringify(record()))
    fdatasyncSync(descriptor)
    const took = performance.now() - before
    for (let n = 0; n < concurrency; n++) latencies.push(took)
  }
  return { perSecond: (latencies.length * 1000) / (performance.now() - start), latencies }
}

const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

const summary = (rounds: ReadonlyArray<Measured>) => {
  const latencies = rounds.flatMap((round) => round.latencies)
  return {
    per_second: Math.round(
      quantile(
        rounds.map((round) => round.perSecond),
        0.5
      )
    ),
    median_ms: Number(quantile(latencies, 0.5).toFixed(3)),
    p99_ms: Number(quantile(latencies, 0.99).toFixed(3))
  }
}

const compare = async (concurrency: number, store: Append, log: Append, descriptor: number) => {
  const rounds: { readonly [Way in "store" | "log" | "plain"]: Array<Measured> } = { store: [], log: [], plain: [] }
  const count = Math.max(concurrency * 10, Math.ceil(Number(values.appends) / ROUNDS))
  await appenders(store, concurrency * 20, concurrency)
  await appenders(log, concurrency * 20, concurrency)
  for (let round = 0; round < ROUNDS; round++) {
    rounds.plain.push(plainWrites(descriptor, count, concurrency))
    rounds.log.push(await appenders(log, count, concurrency))
    rounds.store.push(await appenders(store, count, concurrency))
  }
  const ratios = rounds.store.map(({ perSecond }, at) => perSecond / (rounds.log[at]?.perSecond ?? Number.NaN))
  return {
    concurrency,
    store: summary(rounds.store),
    log: summary(rounds.log),
    plain: summary(rounds.plain),
    ratio: Number(quantile(ratios, 0.5).toFixed(2))
  }
}

const main = Effect.gen(function* () {
  const store = yield* SessionStore
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const session = yield* store.create({ sessionId: "bench", workspace: "/bench" })
  const append: Append = () => run(session.append([record()]))
  const log = yield* Effect.acquireRelease(
    Effect.sync(() => startLog(join(folder, "log"))),
    ({ end }) => Effect.promise(end)
  )
  const descriptor = openSync(join(folder, "plain"), "a")
  yield* Effect.addFinalizer(() => Effect.sync(() => closeSync(descriptor)))
  return yield* Effect.forEach(CONCURRENCY, (concurrency) =>
    Effect.promise(() => compare(concurrency, append, log.append, descriptor))
  )
})

const rows = await Effect.runPromise(
  Effect.scoped(main).pipe(Effect.provide(SqliteSessionStore.layer({ home: join(folder, "home") })))
)
rmSync(folder, { recursive: true, force: true })

const bytes = JSON.stringify(record()).length
const cell = (value: number | string, width: number): string => String(value).padStart(width)

console.log(`durable appends of ${bytes} bytes: a second, median and p99 in milliseconds`)
console.log("appenders |    store  median     p99 |      log  median     p99 |    plain  median     p99 | store/log")
for (const { concurrency, log, plain, ratio, store } of rows) {
  const of = (one: typeof store): string =>
    `${cell(one.per_second, 8)} ${cell(one.median_ms, 7)} ${cell(one.p99_ms, 7)}`
  console.log(`${cell(concurrency, 9)} | ${of(store)} | ${of(log)} | ${of(plain)} | ${cell(ratio.toFixed(2), 9)}`)
}
console.log(JSON.stringify({ bench: "store", record_bytes: bytes, rows }))
