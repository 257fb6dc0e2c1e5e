/**
 * Durable appends: the store against plain writes of the same bytes, each made durable, on the same disk in the same run.
 *
 *     node bench/store.ts [FOLDER] [--appends N]
 *
 * At each concurrency C, C appenders wait each for their own append before they make the next. What group commit could
 * reach at best is C records written and one `fdatasync` for all of them, without a database, a thread or a wait. Rounds
 * of both alternate, so that a slower moment of the disk meets both; the ratio is the median of the rounds' ratios.
 * FOLDER (default: the system's folder for temporary files) chooses the disk. The last line is the same as JSON.
 */
import { Buffer } from "node:buffer"
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import type { SessionRecord } from "../src/store/SessionRecord.ts"
import { type SessionHandle, SessionStore } from "../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../src/store/SqliteSessionStore.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { appends: { type: "string", default: "2000" } }
})
const appends = Number(values.appends)
const folder = mkdtempSync(join(positionals[0] ?? tmpdir(), "magi-bench-"))

const CONCURRENCY = [1, 4, 16, 64]
const ROUNDS = 5

let made = 0
const record = (): SessionRecord => ({
  kind: "user",
  entryId: `entry-${++made}`,
  createdAt: new Date().toISOString(),
  runId: "run",
  text: "a line of what a tool said, neither long nor short; ".repeat(16)
})

interface Measured {
  /** Records a second. */
  readonly rate: number
  /** Milliseconds of each append. */
  readonly latencies: ReadonlyArray<number>
}

const quantile = (sorted: ReadonlyArray<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN

const median = (values: ReadonlyArray<number>): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5
  )

const throughStore = (session: SessionHandle, count: number, concurrency: number) =>
  Effect.gen(function* () {
    const latencies: Array<number> = []
    const one = Effect.suspend(() => {
      const start = performance.now()
      return Effect.map(session.append([record()]), () => latencies.push(performance.now() - start))
    })
    const each = Effect.repeat(one, { times: Math.ceil(count / concurrency) - 1 })
    const start = performance.now()
    yield* Effect.all(
      Array.from({ length: concurrency }, () => each),
      { concurrency: "unbounded", discard: true }
    )
    const measured: Measured = { rate: (latencies.length * 1000) / (performance.now() - start), latencies }
    return measured
  })

const plainWrites = (descriptor: number, count: number, concurrency: number): Measured => {
  const bytes = Buffer.from(JSON.stringify(record()))
  const latencies: Array<number> = []
  const start = performance.now()
  while (latencies.length < count) {
    const before = performance.now()
    for (let n = 0; n < concurrency; n++) writeSync(descriptor, bytes)
    fdatasyncSync(descriptor)
    const took = performance.now() - before
    for (let n = 0; n < concurrency; n++) latencies.push(took)
  }
  return { rate: (latencies.length * 1000) / (performance.now() - start), latencies }
}

interface Row {
  readonly concurrency: number
  readonly store: { readonly per_second: number; readonly median_ms: number; readonly p99_ms: number }
  readonly plain: { readonly per_second: number; readonly median_ms: number; readonly p99_ms: number }
  readonly ratio: number
}

const summary = (rounds: ReadonlyArray<Measured>) => {
  const latencies = rounds.flatMap((round) => round.latencies).sort((a, b) => a - b)
  return {
    per_second: Math.round(median(rounds.map((round) => round.rate))),
    median_ms: Number(quantile(latencies, 0.5).toFixed(3)),
    p99_ms: Number(quantile(latencies, 0.99).toFixed(3))
  }
}

const compare = (session: SessionHandle, descriptor: number, concurrency: number) =>
  Effect.gen(function* () {
    const store: Array<Measured> = []
    const plain: Array<Measured> = []
    const count = Math.max(concurrency * 10, Math.ceil(appends / ROUNDS))
    yield* throughStore(session, concurrency * 4, concurrency)
    for (let round = 0; round < ROUNDS; round++) {
      plain.push(plainWrites(descriptor, count, concurrency))
      store.push(yield* throughStore(session, count, concurrency))
    }
    const ratios = store.map((one, round) => one.rate / (plain[round]?.rate ?? Number.NaN))
    const row: Row = {
      concurrency,
      store: summary(store),
      plain: summary(plain),
      ratio: Number(median(ratios).toFixed(2))
    }
    return row
  })

const main = Effect.gen(function* () {
  const store = yield* SessionStore
  const session = yield* store.create({ sessionId: "bench", workspace: "/bench" })
  const descriptor = openSync(join(folder, "plain"), "w")
  const rows = yield* Effect.forEach(CONCURRENCY, (concurrency) => compare(session, descriptor, concurrency))
  closeSync(descriptor)
  return rows
})

const rows = await Effect.runPromise(
  Effect.scoped(main).pipe(Effect.provide(SqliteSessionStore.layer({ home: join(folder, "home") })))
)
rmSync(folder, { recursive: true, force: true })

const cell = (value: number | string, width: number): string => String(value).padStart(width)

console.log(`durable appends of ${JSON.stringify(record()).length} bytes`)
console.log("appenders |  store/s  median ms  p99 ms |  plain/s  median ms  p99 ms | ratio")
for (const { concurrency, plain, ratio, store } of rows) {
  const of = (one: Row["store"]): string =>
    `${cell(one.per_second, 8)}  ${cell(one.median_ms, 9)}  ${cell(one.p99_ms, 6)}`
  console.log(`${cell(concurrency, 9)} | ${of(store)} | ${of(plain)} | ${cell(ratio.toFixed(2), 5)}`)
}
console.log(JSON.stringify({ bench: "store", record_bytes: JSON.stringify(record()).length, rows }))
