// A hook. argv[2] is a plan: { log?, env?, pid?, grandchild?, detached?, trap?, sleep?, print?, fill?, exit?, noread?, hold? }
import { spawn } from "node:child_process"
import { appendFileSync, writeFileSync } from "node:fs"

const plan = JSON.parse(process.argv[2])
if (plan.trap) process.on("SIGTERM", () => {})
if (plan.noread) process.exit(plan.exit ?? 0)
let input = ""
for await (const chunk of process.stdin) input += chunk
if (plan.log) appendFileSync(plan.log, input)
if (plan.env) writeFileSync(plan.env, JSON.stringify(process.env))
if (plan.grandchild) {
  // It holds the hook's output open when it inherits it.
  const stdio = plan.hold ? "inherit" : "ignore"
  const child = spawn("sleep", ["300"], { stdio, detached: plan.detached ?? false })
  child.unref()
  writeFileSync(plan.grandchild, String(child.pid))
}
process.stderr.write(`noise ${input}`)
if (plan.pid) writeFileSync(plan.pid, String(process.pid))
if (plan.sleep) await new Promise((done) => setTimeout(done, plan.sleep))
if (plan.fill) process.stdout.write("x".repeat(plan.fill))
if (plan.print !== undefined)
  process.stdout.write(typeof plan.print === "string" ? plan.print : JSON.stringify(plan.print))
if (plan.exit) process.exitCode = plan.exit
