/**
 * A backend with one defect: `node proxy.ts DEFECT COMMAND…` runs the real backend with its arguments and environment and
 * stands between it and the client. What a defect leaves alone passes as the same bytes.
 */
import { spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { type Defect, defects, type Frame, isDefect } from "./defects.ts"

const LF = 10

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    for (let lf = rest.indexOf(LF); lf >= 0; lf = rest.indexOf(LF)) {
      yield rest.subarray(0, lf).toString()
      rest = rest.subarray(lf + 1)
    }
  }
}

const [name = "", program = "", ...args] = process.argv.slice(2)
if (!isDefect(name)) throw new Error(`no defect ${name}`)
const defect: Defect = defects[name]()

defect.starts?.()
const backend = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] })
const ended = new Promise<number>((resolve) => backend.once("exit", (code) => resolve(code ?? 1)))
// It has the signal too: both are of one process group.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {})
backend.stdin.on("error", () => {})
process.stdin.pipe(backend.stdin)
process.stdin.once("end", () => defect.inputEnds?.())

let sequence = 0
const numbered = (frame: Frame): Frame => {
  if (frame.event === undefined) return frame
  sequence += 1
  return frame.sequence === sequence ? frame : { ...frame, sequence }
}

for await (const line of linesOf(backend.stdout)) {
  const original: Frame = JSON.parse(line)
  await defect.delay?.(original)
  for (const changed of defect.frames?.(original) ?? [original]) {
    const frame = numbered(changed)
    const text = frame === original ? line : JSON.stringify(frame)
    process.stdout.write(`${defect.line?.(text, frame) ?? text}\n`)
  }
}
const code = await ended
process.exit(defect.exitCode?.(code) ?? code)
