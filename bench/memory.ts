/**
 * What a call leaves behind: the heap of both sides after forced collections, over many calls in one child and over many
 * children in one parent; and whatever else could be left, such as timers, pipes, listeners and processes.
 *
 *     node --expose-gc bench/memory.ts [--calls N] [--children N] [--product] [--brief] [--json FILE]
 *
 * Default: 3500 calls in one child, and ten children of 350 calls each after ten of warm-up. `--product` adds the built
 * backend (dist/, with its store, agent loop and offline model), a fresh session each round. A slope is bytes a call, the
 * median of the slopes between all pairs of samples (Theil-Sen), so that one sample that a compilation fell into does not
 * decide; the first half is warm-up. `without_code` leaves out what the engine compiles meanwhile: that is what calls leave.
 * `--brief`: fewer rounds, and not what the ids alone would take.
 */
import { randomUUID } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { Agent, type AgentShape, PlainTools } from "../src/index.ts"
import { codeBytes } from "./codeBytes.mjs"

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "3500" },
    children: { type: "string", default: "10" },
    product: { type: "boolean", default: false },
    brief: { type: "boolean", default: false },
    json: { type: "string" }
  }
})
const calls = Number(values.calls)
const children = Number(values.children)
const ROUNDS = values.brief ? 8 : 14
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** What one side holds after a round. */
interface Sample {
  readonly calls: number
  readonly heap: number
  /** How much of it is compiled code. */
  readonly code: number
  readonly resources: ReadonlyArray<string>
}

const collect = async (): Promise<number> => {
  if (globalThis.gc === undefined) throw new Error("run it with node --expose-gc")
  for (let round = 0; round < 4; round++) {
    globalThis.gc()
    await setImmediate()
  }
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

const listeners = (): number => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)

const own = (made: number): Effect.Effect<Sample> =>
  Effect.map(
    Effect.promise(collect),
    (heap): Sample => ({
      calls: made,
      heap,
      code: codeBytes(),
      resources: [...process.getActiveResourcesInfo()].sort()
    })
  )

/** Pids of this process's own children. */
const ownChildren = (): ReadonlyArray<string> =>
  readdirSync("/proc").filter((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8")
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === process.pid
    } catch {
      return false
    }
  })

/** The lines that the probe of a child tells, and a way to ask for one. */
const makeProbe = () => {
  let rest = ""
  let pid = 0
  let waiting: ((told: Omit<Sample, "calls">) => void) | undefined
  return {
    onStderr: (chunk: Uint8Array) => {
      const lines = (rest + Buffer.from(chunk).toString()).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (!line.startsWith('{"probe"')) {
          process.stderr.write(`${line}\n`)
          continue
        }
        const told = JSON.parse(line)
        pid = told.probe
        if (told.heap !== undefined) waiting?.(told)
      }
    },
    ask: (made: number) =>
      Effect.promise(
        () =>
          new Promise<Sample>((resolve) => {
            waiting = ({ code, heap, resources }) => resolve({ calls: made, heap, code, resources })
            process.kill(pid, "SIGUSR2")
          })
      )
  }
}

const probed = (...entry: ReadonlyArray<string>): readonly [string, ...ReadonlyArray<string>] => [
  process.execPath,
  "--expose-gc",
  "--import",
  file("./heap-probe.mjs"),
  ...entry
]
const brokerChild = probed(file("./broker-child.ts"), "worker")
const load = (count: number) => JSON.stringify({ calls: count, atOnce: 16, bytes: 200 })

const text = "y".repeat(189)
const echo = {
  name: "echo",
  description: "Says something.",
  input_schema: { type: "object", properties: { text: { type: "string" } }, additionalProperties: false },
  execute: () => text
}

const run = (agent: AgentShape, prompt: string) =>
  Effect.gen(function* () {
    const outcome = yield* agent.run(prompt)
    if (outcome.status !== "completed") return yield* Effect.die(new Error(`the run is ${outcome.status}`))
    const { pending_client_calls } = yield* agent.status
    if (pending_client_calls !== 0) return yield* Effect.die(new Error(`${pending_client_calls} calls are pending`))
  })

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/** Bytes a call, the first half left out. */
const slopeOf = (samples: ReadonlyArray<Sample>, of: (sample: Sample) => number = ({ heap }) => heap): number => {
  const kept = samples.slice(Math.floor(samples.length / 2))
  return Math.round(
    median(kept.flatMap((a, at) => kept.slice(at + 1).map((b) => (of(b) - of(a)) / (b.calls - a.calls))))
  )
}

/**
 * What remembering the ids alone costs, sampled at the same numbers of calls: the client remembers call ids, the backend
 * request ids, because neither may ever be taken twice (client-tools, Execute and reply; base-protocol section 2).
 */
const idsAlone = async (samples: ReadonlyArray<Sample>, idOf: (n: number) => string): Promise<number> => {
  const seen = new Set<string>()
  const same: Array<Sample> = []
  for (const { calls: made } of samples) {
    // As ids arrive: a string of its own each, out of JSON.
    while (seen.size < made) seen.add(JSON.parse(JSON.stringify(idOf(seen.size))))
    same.push({ calls: seen.size, heap: await collect(), code: 0, resources: [] })
  }
  return slopeOf(same)
}

/** Resources that the last sample has and the first had not. */
const leftOf = (samples: ReadonlyArray<Sample>): ReadonlyArray<string> => {
  const before = [...(samples[0]?.resources ?? [])]
  return (samples.at(-1)?.resources ?? []).filter((name) => {
    const at = before.indexOf(name)
    if (at !== -1) before.splice(at, 1)
    return at === -1
  })
}

const summary = (samples: ReadonlyArray<Sample>) => ({
  calls: samples.at(-1)?.calls ?? 0,
  bytes_per_call: slopeOf(samples),
  without_code: slopeOf(samples, ({ code, heap }) => heap - code),
  first_kib: Math.round((samples[0]?.heap ?? 0) / 1024),
  last_kib: Math.round((samples.at(-1)?.heap ?? 0) / 1024),
  left: leftOf(samples)
})

const tools = await Effect.runPromise(PlainTools.make([echo]))

/** All calls in one child: the heap of both after each round. */
const oneChild = Effect.gen(function* () {
  const probe = makeProbe()
  const agent = yield* Agent.make({ words: brokerChild, tools, onStderr: probe.onStderr })
  yield* agent.createSession
  const parent: Array<Sample> = []
  const child: Array<Sample> = []
  const each = Math.ceil(calls / ROUNDS)
  for (let round = 1; round <= ROUNDS; round++) {
    yield* run(agent, load(each))
    parent.push(yield* own(round * each))
    child.push(yield* probe.ask(round * each))
  }
  if (values.brief) return { parent: summary(parent), child: summary(child) }
  const callIds = yield* Effect.promise(() => idsAlone(parent, () => randomUUID()))
  const requestIds = yield* Effect.promise(() => idsAlone(child, (n) => `r${n + 1}`))
  return {
    parent: { ...summary(parent), of_it_ids: callIds },
    child: { ...summary(child), of_it_ids: requestIds }
  }
}).pipe(Effect.scoped)

/** One child after the other: the heap of the parent after each is closed, and whatever else is left. */
const manyChildren = Effect.gen(function* () {
  const parent: Array<Sample> = []
  const each = Math.ceil(calls / 10)
  const one = Effect.scoped(
    Effect.gen(function* () {
      const agent = yield* Agent.make({ words: brokerChild, tools, onStderr: () => {} })
      yield* agent.createSession
      yield* run(agent, load(each))
    })
  )
  yield* one
  const listening = listeners()
  for (let n = 1; n <= 2 * children; n++) {
    yield* one
    parent.push(yield* own(n * each))
  }
  return {
    parent: summary(parent),
    listeners_left: listeners() - listening,
    processes_left: ownChildren().length
  }
})

/** The whole product as built: store, agent loop, offline model; each round a fresh session, so that none is kept for good. */
const product = Effect.gen(function* () {
  const home = mkdtempSync(join(tmpdir(), "magi-memory-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(home, { recursive: true, force: true })))
  const probe = makeProbe()
  const words = probed(file("../dist/cli.js"), "serve", "--stdio")
  const agent = yield* Agent.make({
    words,
    tools,
    onStderr: probe.onStderr,
    cwd: home,
    env: { MC_HOME: join(home, "home") }
  })
  const step = {
    calls: Array.from({ length: 10 }, () => ({ name: "client__echo", arguments: { text: "some words" } }))
  }
  const steps = Math.min(40, Math.ceil(calls / ROUNDS / 10))
  const prompt = `script:${JSON.stringify(Array.from({ length: steps }, () => step))}`
  const samples: Array<Sample> = []
  for (let round = 1; round <= ROUNDS; round++) {
    yield* agent.createSession
    yield* run(agent, prompt)
    yield* agent.createSession
    samples.push(yield* probe.ask(round * steps * 10))
  }
  return summary(samples)
}).pipe(Effect.scoped)

const main = Effect.gen(function* () {
  const one = yield* oneChild
  const many = yield* manyChildren
  return values.product
    ? { one_child: one, many_children: many, product: yield* product }
    : { one_child: one, many_children: many }
})

const figures = await Effect.runPromise(main)
console.log(JSON.stringify({ bench: "memory", node: process.version, ...figures }, null, 2))
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`)
process.exit(0)
