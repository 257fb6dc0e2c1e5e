/**
 * Broker round trips over real pipes, against a hand-written echo of the same five frames (`activity.started`, call,
 * result, acknowledgement, `activity.finished`), interleaved in one run.
 *
 *     node bench/broker.ts [--rounds N] [--json FILE]
 *
 * Each round starts a fresh child of every kind, warms it up, and measures calls a second one at a time, 16 at a time, and
 * 16 at a time with 16 KiB of arguments and 30 KiB of result; CPU is that of both processes a call. Medians over the
 * rounds; ratios are made within a round, so a machine that slows down slows both. The parent is the same for all kinds:
 * it answers each call at once and checks nothing. Request ids bound a child to 4096, so a measurement has several children.
 */
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const option = (name: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? undefined : process.argv[at + 1]
}
const rounds = Number(option("rounds") ?? 7)
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const kinds = [
  { name: "echo by hand", args: [file("echo-child.ts")] },
  { name: "broker, no scan", args: [file("broker-child.ts"), "none"] },
  { name: "broker", args: [file("broker-child.ts"), "worker"] }
] as const
const loads = [
  { name: "1 at a time", calls: 1500, atOnce: 1, bytes: 200, result: 189 },
  { name: "16 at a time", calls: 2000, atOnce: 16, bytes: 200, result: 189 },
  { name: "16 at a time, 16 + 30 KiB", calls: 300, atOnce: 16, bytes: 16_384, result: 30_720 }
] as const

interface Sample {
  readonly perSecond: number
  readonly cpuMicros: number
}

/** utime + stime of a process in microseconds; the kernel counts in ticks of 10 ms. */
const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

const measure = (args: ReadonlyArray<string>, load: (typeof loads)[number]): Promise<Sample> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], { stdio: ["pipe", "pipe", "inherit"] })
    const text = "y".repeat(load.result)
    let id = 0
    let rest = ""
    let session = ""
    let instance = ""
    let measuring = false
    let started = 0
    let cpu = 0
    let own = process.cpuUsage()
    const request = (method: string, params: unknown) =>
      child.stdin.write(`${JSON.stringify({ version: 1, id: `q${++id}`, method, params })}\n`)
    const turn = (calls: number) =>
      request("turn.start", {
        session_id: session,
        prompt: JSON.stringify({ calls, atOnce: load.atOnce, bytes: load.bytes })
      })
    child.on("error", reject)
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        const frame = JSON.parse(line)
        if (frame.error) return reject(new Error(`${line.slice(0, 300)}`))
        if (frame.event === "client.tool.call") {
          const { session_id, run_id, call_id, task_id, subagent_id } = frame.data
          request("client.tool.result", {
            instance_id: instance,
            session_id,
            run_id,
            call_id,
            task_id,
            subagent_id,
            status: "success",
            text
          })
        } else if (frame.event === "run.finished" && !measuring) {
          measuring = true
          own = process.cpuUsage()
          cpu = cpuOf(child.pid ?? 0)
          started = performance.now()
          turn(load.calls)
        } else if (frame.event === "run.finished") {
          const seconds = (performance.now() - started) / 1000
          const used = process.cpuUsage(own)
          resolve({
            perSecond: load.calls / seconds,
            cpuMicros: (used.user + used.system + cpuOf(child.pid ?? 0) - cpu) / load.calls
          })
          child.stdin.end()
        } else if (frame.id === "q1") {
          instance = frame.result.instance_id
          request("session.create", {})
        } else if (frame.id === "q2") {
          session = frame.result.session_id
          turn(Math.min(500, load.calls))
        }
      }
    })
    request("initialize", {
      required_capabilities: ["client.tools"],
      client_tools: [{ name: "client__echo", description: "Says it again.", input_schema: { type: "object" } }]
    })
  })

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

const samples = new Map<string, Array<Sample>>()
for (let round = 0; round < rounds; round++) {
  for (const load of loads) {
    for (let turn = 0; turn < kinds.length; turn++) {
      // No kind keeps one place in the round.
      const kind = kinds[(turn + round) % kinds.length]
      if (kind === undefined) continue
      const key = `${load.name}/${kind.name}`
      samples.set(key, [...(samples.get(key) ?? []), await measure(kind.args, load)])
    }
  }
}

const rows = loads.flatMap((load) =>
  kinds.map((kind) => {
    const own = samples.get(`${load.name}/${kind.name}`) ?? []
    const limit = samples.get(`${load.name}/${kinds[0].name}`) ?? []
    const ratio = own.map((sample, round) => sample.perSecond / (limit[round]?.perSecond ?? Number.NaN))
    return {
      load: load.name,
      kind: kind.name,
      calls_per_second: Math.round(median(own.map((sample) => sample.perSecond))),
      of_echo: Number(median(ratio).toFixed(3)),
      cpu_us_per_call: Math.round(median(own.map((sample) => sample.cpuMicros)))
    }
  })
)
console.table(rows)
const out = option("json")
if (out !== undefined) writeFileSync(out, `${JSON.stringify({ node: process.version, rounds, rows }, null, 2)}\n`)
