/** What Linux tells about processes under `/proc`. Elsewhere everything here finds nothing. */
import { readFileSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"

/** The fields of `/proc/<pid>/stat` that matter here. */
export interface ProcessStat {
  /** One letter; `Z` and `X` are dead, only not collected yet. */
  readonly state: string
  readonly group: number
  /** Clock ticks after boot at which it started: with the pid, the identity of a process within one boot. */
  readonly start: string
}

const parseStat = (text: string): ProcessStat | undefined => {
  // The second field is the command's name in parentheses and may hold blanks and parentheses itself.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const [state, , group] = fields
  const start = fields[19]
  return state === undefined || group === undefined || start === undefined
    ? undefined
    : { state, group: Number(group), start }
}

/** `undefined`: no such process (or no `/proc`). */
export const statNow = (pid: number): ProcessStat | undefined => {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return undefined
  }
}

/** Identifies the boot that pids and start times belong to; empty where there is none. */
export const bootId = (): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
  } catch {
    return ""
  }
}

const isPid = (name: string) => /^[1-9]\d*$/.test(name)

/** Reads one file of every process, a few at a time; what is gone or not ours is left out. */
const scan = async <A>(
  file: string,
  keep: (pid: number, bytes: Buffer) => A | undefined
): Promise<ReadonlyArray<A>> => {
  const pids = (await readdir("/proc").catch(() => [])).filter(isPid)
  const found: Array<A> = []
  const worker = async () => {
    for (let pid = pids.pop(); pid !== undefined; pid = pids.pop()) {
      const bytes = await readFile(`/proc/${pid}/${file}`).catch(() => undefined)
      const kept = bytes === undefined ? undefined : keep(Number(pid), bytes)
      if (kept !== undefined) found.push(kept)
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  return found
}

/** Pids whose environment satisfies `test`, this process excepted. A zombie has no environment any more. */
export const withEnvironment = (test: (environ: Buffer) => boolean): Promise<ReadonlyArray<number>> =>
  scan("environ", (pid, bytes) => (pid !== process.pid && test(bytes) ? pid : undefined))

/** Whether a process group has a member that still runs. */
export const groupRuns = async (group: number): Promise<boolean> => {
  const members = await scan("stat", (_, bytes) => {
    const stat = parseStat(bytes.toString("latin1"))
    return stat !== undefined && stat.group === group && stat.state !== "Z" && stat.state !== "X" ? true : undefined
  })
  return members.length > 0
}
