/**
 * A hook command for cases. Its argument is a plan in JSON, every member optional:
 *
 * `log` file that gets the input as a line · `env` file for its environment · `pid` file for its process id ·
 * `grandchild` file for the id of a process it leaves running (`detached`: in a session of its own) · `noise` words on
 * stderr · `sleep` milliseconds before it answers · `print` what it says (a string as it is, else as JSON) · `fill`
 * allow, with arguments of exactly so many compact bytes · `exit` its exit code.
 */
import { spawn } from "node:child_process"
import { appendFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

interface HookPlan {
  readonly log?: string
  readonly env?: string
  readonly pid?: string
  readonly grandchild?: string
  readonly detached?: boolean
  readonly noise?: boolean
  readonly sleep?: number
  readonly print?: unknown
  readonly fill?: number
  readonly exit?: number
}

const plan: HookPlan = JSON.parse(process.argv[2] ?? "{}")
let input = ""
for await (const chunk of process.stdin.setEncoding("utf8")) input += chunk
if (plan.log !== undefined) appendFileSync(plan.log, `${input.trim()}\n`)
if (plan.env !== undefined) writeFileSync(plan.env, JSON.stringify(process.env))
if (plan.pid !== undefined) writeFileSync(plan.pid, String(process.pid))
if (plan.grandchild !== undefined) {
  const child = spawn("sleep", ["300"], { stdio: "ignore", detached: plan.detached ?? false })
  writeFileSync(plan.grandchild, String(child.pid))
  child.unref()
}
if (plan.noise) process.stderr.write("a hook's words on stderr\n")
if (plan.sleep !== undefined) await sleep(plan.sleep)
const filled = (bytes: number) => ({ decision: "allow", arguments: { a: "x".repeat(bytes - '{"a":""}'.length) } })
const said = plan.fill === undefined ? plan.print : filled(plan.fill)
if (said !== undefined) process.stdout.write(typeof said === "string" ? said : JSON.stringify(said))
process.exitCode = plan.exit ?? 0
