/** A trace with many calls, and the commands as processes of their own, from source. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeTrace, type Trace, type TraceRow } from "../../src/cli/trace/Trace.ts"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export const folder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "magi-cli-")))

/** Runs `magi-code` with its stdin at its end and no terminal. */
export const magi = (
  args: ReadonlyArray<string>,
  options: { readonly home?: string; readonly cwd?: string; readonly input?: string } = {}
) => {
  const { signal, status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--no-warnings", join(root, "src/cli/main.ts"), ...args],
    {
      cwd: options.cwd ?? root,
      env: { ...process.env, MC_HOME: options.home ?? join(folder(), "home"), NODE_OPTIONS: "" },
      input: options.input ?? "",
      encoding: "utf8",
      timeout: 30_000
    }
  )
  return { signal, status, stderr, stdout }
}

const endings = [
  ["success", "reply", []],
  ["success", "reply", []],
  ["failure", "reply", []],
  ["failure", "deadline", ["reply at 31.0 ms"]],
  ["cancelled", "cancel", []],
  ["interrupted", "shutdown", []]
] as const

/** `count` calls of the main agent and three subagents, up to sixteen at a time. */
export const manyCalls = (count: number, name = "client__lookup"): Trace => {
  const rows = Array.from({ length: count }, (_, at): TraceRow => {
    const [status, winner, also] = endings[at % endings.length] ?? endings[0]
    const start = Math.floor(at / 12) * 30 + (at % 12) * 2
    return {
      id: `call-${at}`,
      parent: null,
      run: "run-1",
      task: at % 4 === 0 ? null : `task-${at % 4}`,
      kind: "client call",
      name: `${name}_${at}`,
      callId: `c-${at}`,
      start,
      published: start + 1,
      deadline: start + 60,
      end: start + 10 + (at % 5) * 10,
      status,
      winner,
      also
    }
  })
  const end = Math.max(0, ...rows.map((row) => row.end ?? 0))
  const runs = [{ id: "run-1", start: 0, end, status: "completed" }]
  return makeTrace({ source: "run.jsonl", runs, rows, notes: ["times are those of the client"] })
}
