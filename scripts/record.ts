/**
 * Records `magi-code run` on a real terminal (tmux) into an SVG (default: `docs/images/run.svg`): a shell, the built
 * command, real tools, and the built-in model following a script. Needs a build and tmux.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { setTimeout } from "node:timers/promises"
import { openTerminal } from "../test/cli/tmux.ts"
import { cli, story, withDemo } from "./demo.ts"
import { type Frame, terminalSvg } from "./terminalSvg.ts"

const target = resolve(process.argv[2] ?? "docs/images/run.svg")
const size = { columns: 84, rows: 13 }
const LOOK_EVERY_MS = 150

const record = (): Promise<ReadonlyArray<Frame>> =>
  withDemo(async (cwd) => {
    const home = join(cwd, "home")
    const bin = join(cwd, "bin")
    for (const folder of [home, bin]) mkdirSync(folder, { mode: 0o700 })
    writeFileSync(join(bin, "magi-code"), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, { mode: 0o700 })
    writeFileSync(join(home, "steps.json"), JSON.stringify(story.steps))
    writeFileSync(
      join(home, "settings.json"),
      JSON.stringify({ schema_version: 2, providers: { offline: { kind: "offline", script: "steps.json" } } })
    )
    // tmux would set its own PATH.
    const path = `PATH=${bin}:${process.env["PATH"] ?? ""}`
    await using terminal = await openTerminal(["env", path, "bash", "--norc", "--noprofile"], {
      ...size,
      cwd,
      env: { MC_HOME: home, LC_ALL: "C.UTF-8", PS1: "$ ", NO_COLOR: "" }
    })
    await terminal.shows(/\$$/)
    await terminal.keys("-l", `magi-code run --tools tools.mjs "${story.prompt}"`)
    await terminal.shows(/"$/)
    const frames: Array<Frame> = [{ at: 0, screen: await terminal.coloured() }]
    const began = performance.now()
    await terminal.keys("Enter")
    while (performance.now() - began < story.mostMs) {
      await setTimeout(LOOK_EVERY_MS)
      const screen = await terminal.coloured()
      if (screen !== frames.at(-1)?.screen) frames.push({ at: Math.round(performance.now() - began), screen })
      if (/\n\$ ?$/.test(screen)) return frames
    }
    throw new Error(`the run did not end in time:\n${frames.at(-1)?.screen}`)
  })

mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, terminalSvg(await record(), size))
process.stdout.write(`wrote ${target}\n`)
